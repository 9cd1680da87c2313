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
	"gatewayd/internal/http1"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/upstream"
	"gatewayd/pkg/router"
)

const (
	// relayBuffer is how much is read at once from a worker, in bytes.
	relayBuffer = 32 << 10
	// streamBuffer is the same of a stream that cannot be waited for, and keeps its
	// buffer meanwhile.
	streamBuffer = 4 << 10
	// doneGrace is how long a stream may stay open behind its [DONE].
	doneGrace = time.Second
)

// relay passes a worker's answer on, byte for byte and as it comes.
func (x *exchange) relay(ctx context.Context, s *sending, a *pool.Assignment, resp *upstream.Response, t *try) {
	defer resp.Body.Close()
	x.drop()
	p := passage{x: x, assignment: a, watch: &s.watch, sent: s.sentAt()}
	p.stream = isEventStream(resp.Header) && resp.StatusCode == http.StatusOK
	p.opaque = !readable(resp.Header)
	p.events.typed = x.op.typed
	if p.stream && !p.opaque {
		resp.Header.Del("Content-Length") // an error may come behind it, and usage be taken out
	}
	x.head(resp, a.Worker().ID, a.Receipt())
	switch {
	case p.stream && p.opaque:
		s.watch.enter(flowing, time.Now().Add(x.cfg.Timeouts.TokenGap), errGap)
	case p.stream:
		s.watch.enter(headed, p.sent.Add(x.cfg.Timeouts.FirstToken), errFirst)
	default:
		s.watch.pause(headed)
	}
	p.from, _ = resp.Body.(arriving)
	if p.stream && (p.from == nil || p.from.Buffered() == 0) {
		p.headed = x.flush() == nil // nobody knows when more comes
	}
	err := p.copy(resp.Body)
	x.telemetry.Metrics.Overhead(telemetry.StageRelay, p.busy)
	x.judge(ctx, &p, resp.StatusCode, err, t)
}

// head writes the status and the header fields of a worker's answer.
func (x *exchange) head(resp *upstream.Response, worker string, r router.Receipt) {
	h := x.w.Header()
	*h = forward(*h, resp.Header, false)
	if x.cfg.Headers.Expose {
		h.Add("X-Gatewayd-Worker", worker)
		h.Add("X-Gatewayd-Strategy", r.Strategy)
		h.Add("X-Gatewayd-Reason", r.Reason)
	}
	x.status = resp.StatusCode
	x.w.WriteHeader(resp.StatusCode)
}

// relayHeld passes an error answer on after all other workers failed too.
func (x *exchange) relayHeld(t *try, r router.Receipt) {
	x.drop()
	if x.failure = t.failure; t.refused {
		x.outcome, x.failure = router.Completed, nil
	}
	x.head(t.held, x.worker, r)
	buf := x.buffers.take()
	defer x.buffers.put(buf)
	if _, err := io.CopyBuffer(struct{ io.Writer }{x.w}, t.held.Body, buf[:]); err != nil {
		x.abort = true
	}
}

func isEventStream(h http1.Header) bool {
	switch h.Get("Content-Type") {
	case "text/event-stream":
		return true
	case "application/json": // the most usual ones
		return false
	}
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && t == "text/event-stream"
}

// arriving is a body that can be waited for without a buffer.
type arriving interface {
	Await()        // until bytes have come, or the end
	Buffered() int // bytes that have come
}

// passage is an answer on its way from a worker to the client.
type passage struct {
	x          *exchange
	assignment *pool.Assignment
	watch      *watch
	sent       time.Time // when the worker had the request
	from       arriving  // nil: the answer cannot be waited for
	stream     bool
	headed     bool // the client has got the head of a stream
	opaque     bool // its bytes cannot be read
	events     events
	lines      lines     // of a stream
	unasked    unasked   // usage in it
	answer     answer    // if it is no stream
	first      time.Time // token of a stream, bytes of any other answer
	last       time.Time
	busy       time.Duration // the gateway's own time on it
	ended      bool          // its end was seen
	clientGone bool
}

// copy relays until the worker ends; nil is a clean end.
func (p *passage) copy(from io.Reader) error {
	var own []byte
	if p.stream && p.from == nil {
		own = make([]byte, streamBuffer)
	}
	for {
		if err := p.some(from, own); p.clientGone {
			return err
		} else if err != nil {
			return p.end(err)
		}
	}
}

// some relays what comes next through a buffer. Without an own one it takes one that
// all share, a stream only when something has come: most of the time nothing does.
func (p *passage) some(from io.Reader, buf []byte) error {
	if buf == nil {
		if p.stream {
			p.from.Await()
		}
		shared := p.x.buffers.take()
		defer p.x.buffers.put(shared)
		buf = shared[:]
	}
	n, err := from.Read(buf)
	if n == 0 {
		return err
	}
	p.last = time.Now()
	werr := p.write(buf[:n], err == io.EOF)
	if p.stream && !p.headed && werr == nil { // it was held back
		p.headed, werr = true, p.x.flush()
	}
	p.busy += time.Since(p.last)
	if werr != nil {
		p.clientGone = true
		return werr
	}
	return err
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
	rest := p.wanted(p.lines.rest())
	if len(rest) == 0 {
		return nil
	}
	err := p.send(time.Now(), rest)
	p.clientGone = p.clientGone || err != nil
	return err
}

// send passes bytes on, at once if they are a stream's.
func (p *passage) send(now time.Time, b []byte) error {
	client := p.x.w
	client.renew(now)
	if _, err := client.Writer.Write(b); err != nil || !p.stream {
		return err
	}
	p.headed = true
	return client.Writer.Flush()
}

// write passes bytes on and looks at them. An incomplete line of a stream waits:
// when the worker breaks off within it, no client should have to read half of an
// event. last says that nothing follows.
func (p *passage) write(b []byte, last bool) error {
	out := b
	if p.stream && !p.opaque {
		out = p.wanted(p.lines.take(b))
	}
	if len(out) > 0 {
		if err := p.send(p.last, out); err != nil {
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
		p.answer.take(b, last)
	}
	return nil
}

// wanted takes out what the gateway, and not the client, asked for.
func (p *passage) wanted(b []byte) []byte {
	if p.x.peeked.asks == (edit{}) {
		return b
	}
	return p.unasked.pass(b)
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
func (x *exchange) judge(ctx context.Context, p *passage, status int, err error, t *try) {
	t.outcome, t.result.Status, t.result.Outcome = router.Completed, status, telemetry.AttemptOK
	p.describe(&t.result)
	t.usage = t.result.Usage
	x.usage, x.counted = t.usage, t.result.HasUsage
	if p.stream {
		x.first = p.first
	}
	t.says, t.speaks = fleet.Served, true
	cause := context.Cause(ctx)
	whole := err == nil && (p.events.done || !p.stream || p.opaque || !x.op.ends)
	switch {
	case p.events.failed:
		x.failure = upstreamError("worker_error", "the worker reported an error in its stream", http.StatusBadGateway)
		t.failure, t.outcome, t.refused = x.failure, router.Failed, p.events.blamed
		t.result.Outcome, t.says, t.speaks = telemetry.AttemptBroken, fleet.Broken, !p.events.blamed
	case p.events.done || whole: // whatever came behind the end
		x.byStatus(t, status)
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
	if p.stream && !t.result.HasUsage {
		x.telemetry.Metrics.Worker(x.worker).Estimated(x.estimate, p.events.tokens)
	}
	if t.outcome == router.Completed && t.result.HasUsage {
		x.inference().Used(t.usage)
		if p.stream && !p.first.IsZero() {
			x.inference().Generated(p.last.Sub(p.first), t.usage.OutputTokens)
		}
	}
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
		x.log.Warn("a worker does not know a model that it lists", "request", x.id, "worker", x.worker, "model", x.model)
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
	start := "\n\n" // the blank line ends the worker's last event
	if e.typed = x.op.typed; e.typed {
		start += "event: error\n"
	}
	event := append([]byte(start+"data: "), e.body()...)
	if _, err := x.w.Write(append(event, "\n\n"...)); err == nil {
		_ = x.flush()
	}
}
