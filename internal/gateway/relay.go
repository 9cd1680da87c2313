package gateway

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

const (
	// relayBuffer is how much is read from a worker at once.
	relayBuffer = 32 << 10
	// maxRead bounds the part of an answer that is kept to read its usage.
	maxRead = 4 << 20
	// doneGrace is how long a stream may stay open behind its [DONE].
	doneGrace = time.Second
)

// relay passes a worker's answer on, byte for byte and as it comes.
func (x *exchange) relay(ctx context.Context, cancel context.CancelCauseFunc, a *pool.Assignment, resp *http.Response, start time.Time, m *telemetry.InferenceMetrics) (try, telemetry.AttemptResult) {
	defer resp.Body.Close()
	x.head(resp, a)
	p := passage{x: x, assignment: a, inference: m, sent: start, limit: x.cfg.Timeouts.FirstToken}
	p.stream = isEventStream(resp.Header) && resp.StatusCode == http.StatusOK
	if p.stream {
		// The head goes out at once: a client may wait for it.
		http.NewResponseController(x.w).Flush()
		p.timer = time.AfterFunc(p.limit, func() {
			if p.first.IsZero() {
				cancel(errFirst)
			} else {
				cancel(errGap)
			}
		})
		defer p.timer.Stop()
	} else {
		p.began()
	}
	err := p.copy(resp.Body)
	return x.judge(ctx, &p, resp, err)
}

// head writes the status and the header fields.
func (x *exchange) head(resp *http.Response, a *pool.Assignment) {
	h := x.w.Header()
	for name, values := range forwardable(resp.Header, false) {
		h[name] = values
	}
	h.Set("X-Request-Id", x.id)
	if x.cfg.Headers.Expose {
		r := a.Receipt()
		h.Set("X-Gatewayd-Worker", a.Worker().ID)
		h.Set("X-Gatewayd-Strategy", r.Strategy)
		h.Set("X-Gatewayd-Reason", r.Reason)
	}
	x.status = resp.StatusCode
	x.w.WriteHeader(resp.StatusCode)
}

// relayHeld passes an error answer on after all other workers failed too.
func (x *exchange) relayHeld(t try) {
	h := x.w.Header()
	for name, values := range forwardable(t.held.Header, false) {
		h[name] = values
	}
	h.Set("X-Request-Id", x.id)
	x.failure, x.status = t.failure, t.held.StatusCode
	x.w.WriteHeader(t.held.StatusCode)
	if _, err := io.Copy(x.w, t.held.Body); err != nil {
		x.abort = true
	}
}

func isEventStream(h http.Header) bool {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && t == "text/event-stream"
}

// passage is an answer on its way from a worker to the client.
type passage struct {
	x          *exchange
	assignment *pool.Assignment
	inference  *telemetry.InferenceMetrics
	sent       time.Time // when the request was sent
	stream     bool
	events     events
	kept       []byte // of an answer that is no stream
	first      time.Time
	last       time.Time
	timer      *time.Timer
	limit      time.Duration
	clientGone bool
}

// began notes the first token, or the head of an answer that is no stream.
func (p *passage) began() {
	p.first = time.Now()
	p.assignment.FirstToken()
	if p.stream {
		p.inference.FirstToken(p.first.Sub(p.x.start))
		p.limit = p.x.cfg.Timeouts.TokenGap
	}
}

// copy relays until the worker ends; nil is a clean end.
func (p *passage) copy(from io.Reader) error {
	buf := make([]byte, relayBuffer)
	control := http.NewResponseController(p.x.w)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.last = time.Now()
			if _, werr := p.x.w.Write(buf[:n]); werr != nil {
				p.clientGone = true
				return werr
			}
			if p.stream {
				if ferr := control.Flush(); ferr != nil {
					p.clientGone = true
					return ferr
				}
			}
			p.read(buf[:n])
		}
		if err == io.EOF {
			p.events.close()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// read looks at relayed bytes.
func (p *passage) read(b []byte) {
	if !p.stream {
		if len(p.kept)+len(b) <= maxRead {
			p.kept = append(p.kept, b...)
		}
		return
	}
	p.events.feed(b)
	if p.first.IsZero() && p.events.tokens > 0 {
		p.began()
	}
	if p.events.done {
		p.limit = doneGrace
	}
	p.timer.Reset(p.limit)
}

// judge says how the answer ended, and tells a client whose stream broke.
func (x *exchange) judge(ctx context.Context, p *passage, resp *http.Response, err error) (try, telemetry.AttemptResult) {
	r := telemetry.AttemptResult{Status: resp.StatusCode, Outcome: telemetry.AttemptOK}
	p.describe(&r)
	t := try{outcome: router.Completed, usage: r.Usage}
	if resp.StatusCode >= http.StatusBadRequest {
		r.Outcome, r.ErrorType = telemetry.AttemptStatus, http.StatusText(resp.StatusCode)
		if resp.StatusCode >= http.StatusInternalServerError {
			t.outcome = router.Failed
		}
	}
	incomplete := p.stream && !p.events.done && x.op != embeddings
	switch {
	case p.stream && p.events.done: // whatever came behind it
	case err == nil && !incomplete:
	case p.clientGone || errors.Is(context.Cause(ctx), context.Canceled):
		t.outcome, r.Outcome, r.ErrorType = router.Cancelled, telemetry.AttemptCancelled, "cancelled"
		return t, r
	default:
		t.outcome = router.Failed
		t.failure, r.Outcome = broken(context.Cause(ctx))
		x.failure = t.failure
		x.tell(p.stream, t.failure)
		return t, r
	}
	if r.HasUsage {
		p.inference.Used(r.Usage)
		if p.stream && !p.first.IsZero() {
			p.inference.Generated(p.last.Sub(p.first), r.Usage.OutputTokens)
		}
	}
	return t, r
}

// describe fills in what the answer says about itself.
func (p *passage) describe(r *telemetry.AttemptResult) {
	if !p.first.IsZero() {
		r.FirstChunk = p.first.Sub(p.sent)
	}
	if p.stream {
		r.ResponseID, r.ResponseModel = p.events.id, p.events.model
		r.Usage, r.HasUsage = p.events.usage, p.events.hasUsage
		if p.events.finish != "" {
			r.FinishReasons = []string{p.events.finish}
		}
		if !r.HasUsage {
			r.Usage = router.Usage{OutputTokens: p.events.tokens, CachedTokens: -1} // counted, not reported
		}
		return
	}
	r.Usage, r.HasUsage = readUsage(p.kept)
}

// broken says why an answer broke off.
func broken(cause error) (*apiError, telemetry.AttemptOutcome) {
	for limit, code := range map[error]string{errFirst: "timeout_first_token", errGap: "timeout_token_gap", errTotal: "timeout_total"} {
		if errors.Is(cause, limit) {
			return upstreamError(code, limit.Error(), http.StatusGatewayTimeout), telemetry.AttemptTimeout
		}
	}
	return upstreamError("worker_broke", "the worker broke off its answer", http.StatusBadGateway), telemetry.AttemptBroken
}

// tell reports a failure in band: as an event in a stream, and by cutting the
// connection where the answer has no room for it.
func (x *exchange) tell(stream bool, e *apiError) {
	if !stream {
		x.abort = true
		return
	}
	// The blank line ends whatever the worker left unfinished.
	event := append([]byte("\n\ndata: "), e.body()...)
	if _, err := x.w.Write(append(event, "\n\n"...)); err == nil {
		http.NewResponseController(x.w).Flush()
	}
}
