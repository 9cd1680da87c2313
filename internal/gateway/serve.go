package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

var errTotal = errors.New("the request took longer than timeouts.total")

// exchange is one client request at this edge, from its first byte to its
// ending.
type exchange struct {
	*Server
	w     http.ResponseWriter
	r     *http.Request
	op    operation
	id    string
	start time.Time

	body     []byte
	peeked   peeked
	affinity affinity

	// What became of it.
	outcome  router.Outcome
	failure  *apiError // what the gateway itself answered, or told in the stream
	status   int       // sent to the client, 0: none
	worker   string
	strategy string
	attempts int
	abort    bool // cut the connection: the answer is incomplete and cannot say so
}

// serve answers one inference request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, route string, op operation) {
	x := &exchange{Server: s, w: w, r: r, op: op, id: w.Header().Get("X-Request-Id"), start: time.Now(), outcome: router.Refused}
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.cfg.Timeouts.Total, errTotal)
	defer cancel()
	ctx, span := s.telemetry.StartServer(ctx, r, route)
	x.run(ctx)
	x.record(span)
	if x.abort {
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) run(ctx context.Context) {
	p, adapter, e := x.accept()
	if e != nil {
		x.fail(e)
		return
	}
	x.telemetry.Metrics.Overhead(telemetry.StageParse, since(x.start))
	tokens := p.TokensPerByte()
	request := router.Request{
		ID: x.id, Model: x.peeked.model, Adapter: adapter, Key: x.affinity.key,
		PromptTokens: int(float64(x.affinity.bytes) * tokens), MaxTokens: x.peeked.maxTokens,
		Blocks: x.affinity.blocks, BlockTokens: max(1, int(blockBytes*tokens)),
	}
	if x.op == embeddings {
		request.MaxTokens = 1
	}
	asked := time.Now()
	a, err := p.Acquire(ctx, request)
	x.telemetry.Metrics.Overhead(telemetry.StageDecide, since(asked))
	if err != nil {
		x.refused(ctx, err)
		return
	}
	x.attend(ctx, a)
}

// accept reads the body and finds the pool.
func (x *exchange) accept() (*pool.Pool, string, *apiError) {
	if enc := x.r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, "", &apiError{status: http.StatusUnsupportedMediaType, kind: "invalid_request_error", code: "unsupported_encoding",
			message: "encoded request bodies are not accepted; send the JSON as it is"}
	}
	limit := int64(x.cfg.Limits.BodyBytes)
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, "", &apiError{status: http.StatusRequestEntityTooLarge, kind: "invalid_request_error", code: "body_too_large",
			message: fmt.Sprintf("the body is larger than limits.body_bytes, %d bytes", limit)}
	case err != nil:
		return nil, "", badRequest("", "the body could not be read: it ended early")
	}
	var e *apiError
	if x.peeked, e = peek(x.op, body); e != nil {
		return nil, "", e
	}
	p, adapter, ok := x.pools.Lookup(x.peeked.model)
	if !ok {
		return nil, "", unknownModel(x.peeked.model)
	}
	x.body = body
	x.affinity = affinityOf(x.op, x.peeked, adapter, x.r.Header, x.cfg.Headers.Session)
	return p, adapter, nil
}

// attend tries workers until one's answer was relayed.
func (x *exchange) attend(ctx context.Context, a *pool.Assignment) {
	for {
		x.worker, x.strategy = a.Worker().ID, a.Receipt().Strategy
		x.attempts++
		t := x.try(ctx, a)
		if !t.retry {
			x.outcome = t.outcome
			a.Finish(router.Ending{Outcome: t.outcome, Usage: t.usage}, x.affinity.bytes)
			return
		}
		x.log.Debug("an attempt failed", "request", x.id, "worker", x.worker, "attempt", x.attempts, "error", t.failure.message)
		if err := a.Retry(ctx); err != nil {
			x.outcome = router.Failed
			x.lastAnswer(ctx, t, err)
			return
		}
		t.discard()
	}
}

// lastAnswer gives the client what the last worker said when there is no other
// worker to try: its own error answer, or ours about it.
func (x *exchange) lastAnswer(ctx context.Context, t try, err error) {
	defer t.discard()
	var refused *pool.Refused
	switch {
	case t.held != nil:
		x.relayHeld(t)
	case errors.As(err, &refused):
		x.fail(t.failure)
	default:
		x.refused(ctx, err)
	}
}

// refused answers a request that got no worker.
func (x *exchange) refused(ctx context.Context, err error) {
	var r *pool.Refused
	switch {
	case errors.As(err, &r):
		x.fail(fromRefusal(r.Refusal))
	case errors.Is(context.Cause(ctx), errTotal):
		x.outcome = router.Failed
		x.fail(upstreamError("timeout_total", errTotal.Error(), http.StatusGatewayTimeout))
	default:
		x.outcome = router.Cancelled
	}
}

// fail answers with an error of the gateway's own.
func (x *exchange) fail(e *apiError) {
	x.failure, x.status = e, e.status
	if x.cfg.Headers.Expose && x.worker != "" {
		x.w.Header().Set("X-Gatewayd-Worker", x.worker)
	}
	e.write(x.w)
}

// record ends the span and counts the request.
func (x *exchange) record(span telemetry.ServerSpan) {
	word := errorWord(x.outcome, x.failure)
	m := x.telemetry.Metrics
	m.RequestDone(x.outcome, x.status)
	m.Inference(string(x.op), provider, x.peeked.model).RequestDone(since(x.start), word)
	span.End(telemetry.ServerResult{
		Status: x.status, Outcome: x.outcome, ErrorType: word, RequestID: x.id, Model: x.peeked.model,
		Worker: x.worker, Strategy: x.strategy, Attempts: x.attempts,
	})
	if x.outcome == router.Failed {
		x.log.Warn("a request failed", "request", x.id, "model", x.peeked.model, "worker", x.worker, "attempts", x.attempts, "error", word)
	}
}
