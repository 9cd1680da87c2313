package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// statusGone is recorded as the status of a request whose client left before
// any was sent. No client ever sees it; the number is the one that nginx uses.
const statusGone = 499

// exchange is one client request at this edge, from its first byte to its
// ending.
type exchange struct {
	*Server
	w     *patient
	r     *downstream.Request
	op    *operation
	id    string
	start time.Time
	stop  context.CancelCauseFunc

	before, next *exchange // of those that run

	body     string
	held     int64 // bytes of memory that the body counts as
	peeked   peeked
	model    string // that the peeked one stands for, if it is an alias
	affinity affinity
	class    int // the priority of its class
	estimate int // prompt tokens, as guessed from the text; 0 before it was read

	// What became of it.
	outcome  router.Outcome
	failure  *apiError // what the gateway itself answered, or told in the stream
	status   int       // sent to the client, 0: none
	worker   string
	strategy string
	attempts int
	comeBack time.Duration // the least that workers who had too much to do have asked for; 0: none has
	first    time.Time     // first generated content of a stream, zero if none came
	usage    router.Usage
	counted  bool // by the worker
	metrics  *telemetry.InferenceMetrics
	abort    bool // cut the connection: the answer is incomplete and cannot say so
}

// serve answers one inference request.
func (s *Server) serve(w *patient, r *downstream.Request, op *operation) {
	x := &exchange{
		Server: s, w: w, r: r, op: op, stop: r.End(),
		id: w.Header().Get(requestIDField), start: r.Arrived, outcome: router.Failed,
	}
	s.running.enter(x)
	defer s.running.leave(x)
	ctx, span := s.telemetry.StartServer(r.Context(), telemetry.ServerRequest{Method: r.Method, Header: r.Header, Major: r.Major, TLS: r.TLS}, op.path)
	s.budget.request(x.start)
	x.guarded(ctx)
	x.drop()
	x.record(span)
	x.writeDown()
	if x.abort {
		panic(http.ErrAbortHandler)
	}
}

// guarded runs the exchange. A fault of the gateway's own ends only this
// request, like any other failure of it.
func (x *exchange) guarded(ctx context.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		x.log.Error("a request met a fault of the gateway", "request", x.id, "panic", p, "stack", string(debug.Stack()))
		x.outcome = router.Failed
		e := upstreamError("internal", "the gateway failed", http.StatusInternalServerError)
		if x.abort = x.status != 0; !x.abort {
			x.fail(e)
		}
		x.failure = e
	}()
	x.run(ctx)
}

func (x *exchange) run(ctx context.Context) {
	p, adapter, e := x.accept()
	if e != nil {
		x.outcome = router.Refused
		x.fail(e)
		return
	}
	if x.class, e = x.priority(); e != nil {
		x.outcome = router.Refused
		x.fail(e)
		return
	}
	tokens := p.TokensPerByte()
	x.estimate = int(float64(x.affinity.bytes) * tokens)
	request := router.Request{
		ID: x.id, Model: x.model, Adapter: adapter, Key: x.affinity.key,
		PromptTokens: x.estimate, MaxTokens: x.peeked.maxTokens,
		Blocks: x.affinity.blocks, BlockTokens: max(1, int(blockBytes*tokens)), Priority: x.class,
	}
	if x.op.short {
		request.MaxTokens = 1
	}
	a, err := p.Acquire(ctx, request)
	if err != nil {
		x.refused(ctx, err)
		return
	}
	x.attend(ctx, a)
}

// accept reads the body and finds the pool.
func (x *exchange) accept() (*pool.Pool, string, *apiError) {
	body, e := x.readBody()
	if e != nil {
		return nil, "", e
	}
	read := time.Now()
	if x.op.form {
		x.peeked, e = peekForm(x.r.Header.Get("Content-Type"), body)
	} else {
		x.peeked, e = peek(x.op, body)
	}
	if e != nil {
		return nil, "", e
	}
	x.model = x.peeked.model
	if real, ok := x.cfg.Aliases[x.model]; ok {
		x.model = real
	}
	if x.model == "" {
		if x.model, e = x.onlyModel(); e != nil {
			return nil, "", e
		}
	}
	p, adapter, ok := x.pools.Lookup(x.model)
	if !ok {
		return nil, "", x.notServed()
	}
	x.affinity = affinityOf(x.op, x.peeked, x.model, adapter, x.r.Header, x.sessions)
	// What is left of the peek must not hold on to the text of the body.
	x.body, x.peeked = body, peeked{model: x.peeked.model, stream: x.peeked.stream, maxTokens: x.peeked.maxTokens, named: x.peeked.named, asks: x.peeked.asks}
	if x.cfg.Usage == config.UsagePassive {
		x.peeked.asks = edit{}
	}
	x.telemetry.Metrics.Overhead(telemetry.StageParse, time.Since(read))
	return p, adapter, nil
}

// notServed says why no pool serves the model: nobody has it, or not yet.
func (x *exchange) notServed() *apiError {
	snapshot := x.workers.Snapshot()
	if len(snapshot.Models()) == 0 {
		return fromRefusal(router.Refusal{Code: router.NoWorker, Reason: "no worker has listed its models yet"})
	}
	if _, _, listed := snapshot.Lookup(x.model); listed {
		return fromRefusal(router.Refusal{Code: router.NoWorker, Reason: "the gateway does not serve the model yet"})
	}
	return unknownModel(x.peeked.model)
}

// attend tries workers until one's answer was relayed.
func (x *exchange) attend(ctx context.Context, a *pool.Assignment) {
	end := router.Ending{Outcome: router.Failed}
	assigned := true
	defer func() {
		if assigned {
			a.Finish(end, x.affinity.bytes)
		}
	}()
	for {
		x.worker, x.strategy = a.Worker().ID, a.Receipt().Strategy
		x.attempts++
		var t try
		if x.try(ctx, a, &t); !t.retry {
			x.outcome, end = t.outcome, t.ending()
			return
		}
		x.log.Debug("an attempt failed", "request", x.id, "worker", x.worker, "attempt", x.attempts, "error", t.failure.message)
		unused, ok := x.budget.retry(time.Now())
		if !ok {
			x.telemetry.Metrics.RetryDenied()
			if t.refused {
				end = t.ending()
			}
			x.lastAnswer(ctx, a, &t, &pool.Refused{})
			return
		}
		assigned = false
		err := a.Retry(ctx)
		if err != nil {
			unused()
			x.lastAnswer(ctx, a, &t, err)
			return
		}
		assigned = true
		t.discard()
	}
}

// lastAnswer gives the client what the last worker said when there is no other
// worker to try: its own error answer, or ours about it.
func (x *exchange) lastAnswer(ctx context.Context, a *pool.Assignment, t *try, err error) {
	defer t.discard()
	var refused *pool.Refused
	switch {
	case !errors.As(err, &refused):
		x.refused(ctx, err)
	case t.held != nil:
		if t.refused {
			x.soonest(&t.held.Header, refused.RetryAfter)
		}
		x.relayHeld(t, a.Receipt())
	default:
		x.fail(t.failure)
	}
}

// refused answers a request that got no worker.
func (x *exchange) refused(ctx context.Context, err error) {
	var r *pool.Refused
	switch {
	case errors.As(err, &r):
		x.outcome = router.Refused
		x.fail(fromRefusal(r.Refusal))
	case notTheWorkers(context.Cause(ctx)):
		x.fail(timedOut(context.Cause(ctx)))
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
	e.typed, e.last = x.op.typed, e.last && x.r.Major == 1 // other streams of HTTP/2 go on
	e.write(x.w)
}

func (x *exchange) flush() error { return x.w.Flush() }

// inference returns the metrics of the operation and the model, which is known by the
// first call.
func (x *exchange) inference() *telemetry.InferenceMetrics {
	if x.metrics == nil {
		x.metrics = x.telemetry.Metrics.Inference(x.op.name, provider, x.model)
	}
	return x.metrics
}

// record ends the span and counts the request.
func (x *exchange) record(span telemetry.ServerSpan) {
	if x.status == 0 && x.outcome == router.Cancelled {
		x.status = statusGone
	}
	word := errorWord(x.outcome, x.status, x.failure)
	x.telemetry.Metrics.RequestDone(x.outcome, x.status)
	x.inference().RequestDone(time.Since(x.start), word)
	span.End(telemetry.ServerResult{
		Status: x.status, Outcome: x.outcome, ErrorType: word, RequestID: x.id, Model: x.peeked.model,
		Worker: x.worker, Strategy: x.strategy, Attempts: x.attempts,
	})
	if x.outcome == router.Failed {
		x.log.Warn("a request failed", "request", x.id, "model", x.peeked.model, "worker", x.worker, "attempts", x.attempts, "error", word)
	}
}
