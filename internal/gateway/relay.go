package gateway

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

const (
	// relayBuffer is how much is read at once from a worker or a client, in bytes.
	relayBuffer = 32 << 10
	// doneGrace is how long a stream may stay open behind its [DONE].
	doneGrace = time.Second
)

// relay passes a worker's answer on, byte for byte and as it comes.
func (x *exchange) relay(ctx context.Context, s *sending, a *pool.Assignment, resp *http.Response) try {
	defer resp.Body.Close()
	x.drop()
	x.head(resp, a.Worker().ID, a.Receipt())
	p := passage{x: x, assignment: a, watch: s.watch, sent: x.sentAt(s)}
	p.stream = isEventStream(resp.Header) && resp.StatusCode == http.StatusOK
	p.opaque = !readable(resp.Header)
	switch {
	case p.stream && p.opaque:
		s.watch.enter(flowing, time.Now().Add(x.cfg.Timeouts.TokenGap), errGap)
	case p.stream:
		s.watch.enter(headed, p.sent.Add(x.cfg.Timeouts.FirstToken), errFirst)
	default:
		s.watch.pause(headed)
	}
	if p.stream {
		x.flush() // a client may wait for the head
	}
	err := p.copy(resp.Body)
	x.telemetry.Metrics.Overhead(telemetry.StageRelay, p.busy)
	return x.judge(ctx, &p, resp.StatusCode, err)
}

// head writes the status and the header fields of a worker's answer.
func (x *exchange) head(resp *http.Response, worker string, r router.Receipt) {
	h := x.w.Header()
	for name, values := range forwardable(resp.Header, false) {
		h[name] = values
	}
	h.Set("X-Request-Id", x.id)
	if x.cfg.Headers.Expose {
		h.Set("X-Gatewayd-Worker", worker)
		h.Set("X-Gatewayd-Strategy", r.Strategy)
		h.Set("X-Gatewayd-Reason", r.Reason)
	}
	x.status = resp.StatusCode
	x.w.WriteHeader(resp.StatusCode)
}

// relayHeld passes an error answer on after all other workers failed too.
func (x *exchange) relayHeld(t try, r router.Receipt) {
	x.drop()
	x.failure = t.failure
	x.head(t.held, x.worker, r)
	buf := x.buffers.take()
	defer x.buffers.put(buf)
	if _, err := io.CopyBuffer(struct{ io.Writer }{x.w}, t.held.Body, buf[:]); err != nil {
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
	watch      *watch
	sent       time.Time // when the worker had the request
	stream     bool
	opaque     bool // its bytes cannot be read
	events     events
	lines      lines     // of a stream
	answer     answer    // if it is no stream
	first      time.Time // token of a stream, bytes of any other answer
	last       time.Time
	busy       time.Duration // the gateway's own time on it
	ended      bool          // its end was seen
	clientGone bool
}

// copy relays until the worker ends; nil is a clean end.
func (p *passage) copy(from io.Reader) error {
	buf := p.x.buffers.take()
	defer p.x.buffers.put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			p.last = time.Now()
			werr := p.write(buf[:n])
			p.busy += time.Since(p.last)
			if werr != nil {
				p.clientGone = true
				return werr
			}
		}
		if err != nil {
			return p.end(err)
		}
	}
}

// end says how the worker's bytes ended; a stream that has ended as it should may
// have a last line without an end.
func (p *passage) end(err error) error {
	if err != io.EOF {
		return err
	}
	p.events.close()
	return p.lastLine()
}

// lastLine sends the last line of a stream, although the worker has not ended it.
func (p *passage) lastLine() error {
	rest := p.lines.rest()
	if len(rest) == 0 {
		return nil
	}
	err := p.send(rest)
	p.clientGone = p.clientGone || err != nil
	return err
}

// send passes bytes on, at once if they are a stream's.
func (p *passage) send(b []byte) error {
	if _, err := p.x.w.Write(b); err != nil || !p.stream {
		return err
	}
	return p.x.flush()
}

// write passes bytes on and looks at them. An incomplete line of a stream waits:
// when the worker breaks off within it, no client should have to read half of an
// event.
func (p *passage) write(b []byte) error {
	out := b
	if p.stream && !p.opaque {
		out = p.lines.take(b)
	}
	if len(out) > 0 {
		if err := p.send(out); err != nil {
			return err
		}
	}
	switch {
	case p.stream && !p.opaque:
		p.events.feed(b)
		p.look()
		if p.events.done {
			return p.lastLine()
		}
	case p.stream:
		p.watch.enter(flowing, p.last.Add(p.x.cfg.Timeouts.TokenGap), errGap)
	default:
		if p.first.IsZero() {
			p.first = p.last
		}
		p.answer.keep(b)
	}
	return nil
}

// look notes what has come of a stream. Comments are no token: they do not give
// the first one more time. Behind the end there is one limit for all that comes.
func (p *passage) look() {
	if p.first.IsZero() && p.events.tokens > 0 {
		p.first = p.last
		p.assignment.FirstToken()
		p.x.inference().FirstToken(p.first.Sub(p.x.start))
	}
	switch {
	case p.events.done && !p.ended:
		p.ended = true
		p.watch.enter(ending, p.last.Add(doneGrace), errDone)
	case !p.first.IsZero():
		p.watch.enter(flowing, p.last.Add(p.x.cfg.Timeouts.TokenGap), errGap)
	}
}

// judge says how the answer ended, and tells a client whose stream broke.
func (x *exchange) judge(ctx context.Context, p *passage, status int, err error) try {
	t := try{outcome: router.Completed, result: telemetry.AttemptResult{Status: status, Outcome: telemetry.AttemptOK}}
	p.describe(&t.result)
	t.usage = t.result.Usage
	x.usage, x.counted = t.usage, t.result.HasUsage
	if p.stream {
		x.first = p.first
	}
	t.says, t.speaks = fleet.Served, true
	cause := context.Cause(ctx)
	whole := err == nil && (p.events.done || !p.stream || p.opaque || x.op == embeddings)
	switch {
	case p.events.failed:
		x.failure = upstreamError("worker_error", "the worker reported an error in its stream", http.StatusBadGateway)
		t.failure, t.outcome, t.refused = x.failure, router.Failed, p.events.blamed
		t.result.Outcome, t.says, t.speaks = telemetry.AttemptBroken, fleet.Broken, !p.events.blamed
	case p.events.done || whole: // whatever came behind the end
		x.byStatus(&t, status)
	case p.clientGone || errors.Is(cause, context.Canceled):
		t.outcome, t.speaks = router.Cancelled, false
		t.result.Outcome, t.result.ErrorType = telemetry.AttemptCancelled, "cancelled"
	default:
		t.outcome, t.says = router.Failed, fleet.Broken
		t.failure, t.result.Outcome = timedOut(cause), telemetry.AttemptTimeout
		if t.failure == nil {
			t.failure, t.result.Outcome = upstreamError("worker_broke", "the worker broke off its answer", http.StatusBadGateway), telemetry.AttemptBroken
		}
		t.speaks = !notTheWorkers(cause)
		x.failure = t.failure
		x.tell(p.stream && !p.opaque, t.failure)
	}
	if t.outcome == router.Completed && t.result.HasUsage {
		x.inference().Used(t.usage)
		if p.stream && !p.first.IsZero() {
			x.inference().Generated(p.last.Sub(p.first), t.usage.OutputTokens)
		}
	}
	return t
}

// byStatus says what a whole answer with an error status means.
func (x *exchange) byStatus(t *try, status int) {
	if status < http.StatusBadRequest {
		return
	}
	t.result.Outcome, t.result.ErrorType = telemetry.AttemptStatus, strconv.Itoa(status)
	switch {
	case status >= http.StatusInternalServerError:
		t.outcome, t.says = router.Failed, fleet.Broken
	case status == http.StatusNotFound:
		x.log.Warn("a worker does not know a model that it lists", "request", x.id, "worker", x.worker, "model", x.peeked.model)
		t.refused, t.says = true, fleet.Missing
	default:
		t.refused, t.speaks = true, false
	}
}

// describe fills in what the answer says about itself.
func (p *passage) describe(r *telemetry.AttemptResult) {
	if !p.first.IsZero() {
		r.FirstChunk = p.first.Sub(p.sent)
	}
	if !p.stream {
		r.Usage, r.HasUsage = p.answer.usage()
		return
	}
	r.ResponseID, r.ResponseModel, r.FinishReasons = p.events.id, p.events.model, p.events.finishes
	r.Usage, r.HasUsage = p.events.usage, p.events.hasUsage
	if !r.HasUsage {
		r.Usage = router.Usage{OutputTokens: p.events.tokens, CachedTokens: -1} // counted, not reported
	}
}

// tell reports a failure in band: as an event in a stream, and by cutting the
// connection where the answer has no room for it.
func (x *exchange) tell(stream bool, e *apiError) {
	if !stream {
		x.abort = true
		return
	}
	// The blank line ends the worker's last event.
	event := append([]byte("\n\ndata: "), e.body()...)
	if _, err := x.w.Write(append(event, "\n\n"...)); err == nil {
		_ = x.flush()
	}
}
