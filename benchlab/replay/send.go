package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"
)

// errTimeout is the cause of a request's end when it took too long.
var errTimeout = errors.New("the answer took longer than allowed")

// workerHeader is where a gateway names the worker that answered.
const workerHeader = "X-Gatewayd-Worker"

// ended is what became of a row.
type ended struct {
	row     int32
	at      time.Time // the end
	outcome Outcome
	worker  string // "" if it is not known
	message string // of a failure
}

// sender sends requests to one server. It is safe for concurrent use.
type sender struct {
	form      form
	url       url.URL
	header    http.Header
	session   string // name of the header that names the session, "" for none
	transport http.RoundTripper
	timeout   time.Duration
	began     time.Time
	dilation  float64
}

// since turns a moment into time since the start, in seconds of the trace.
func (s *sender) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return time.Duration(float64(t.Sub(s.began)) / s.dilation)
}

// send sends one prompt and reads the answer to its end.
func (s *sender) send(ctx context.Context, prompt *text, output int, session string) (e ended) {
	sent := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	defer cancel()
	a := newAnswer(time.Now)
	e.outcome = Outcome{Worker: -1, Kind: Complete}
	resp, err := s.transport.RoundTrip(s.request(ctx, prompt, output, session))
	switch {
	case err != nil:
		e.outcome.Kind, e.message = Connect, err.Error()
	default:
		e.worker = resp.Header.Get(workerHeader)
		e.outcome.Status = int16(resp.StatusCode)
		e.outcome.Kind, e.message = s.read(resp, a)
		resp.Body.Close()
	}
	e.at = time.Now()
	if cause := context.Cause(ctx); cause != nil && e.outcome.Kind != Complete {
		e.outcome.Kind, e.message = Interrupted, "the replay was ended"
		if errors.Is(cause, errTimeout) {
			e.outcome.Kind, e.message = TimedOut, fmt.Sprintf("no whole answer within %v", s.timeout)
		}
	}
	o := &e.outcome
	o.Sent, o.First, o.Last, o.Ended = s.since(sent), s.since(a.first), s.since(a.last), s.since(e.at)
	o.Prompt, o.Output, o.Cached = int32(a.prompt), int32(a.output), int32(a.cached)
	o.Chunks, o.Gap = int32(a.chunks), time.Duration(float64(a.gap)/s.dilation)
	return e
}

func (s *sender) request(ctx context.Context, prompt *text, output int, session string) *http.Request {
	b := s.form.body(prompt, output, session)
	r := (&http.Request{
		Method: http.MethodPost, URL: &s.url, Host: s.url.Host, Header: s.header.Clone(),
		ContentLength: b.len(), Body: b.open(),
		GetBody: func() (io.ReadCloser, error) { return b.open(), nil },
	}).WithContext(ctx)
	if s.session != "" && session != "" {
		r.Header.Set(s.session, session)
	}
	// Not sent; it lets the transport replace a kept-alive connection that the
	// server has closed in the meantime.
	r.Header["Idempotency-Key"] = nil
	return r
}

// read reads an answer and says how it ended.
func (s *sender) read(resp *http.Response, a *answer) (Kind, string) {
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what there is of an explanation
		kind := Status
		if tooLong(resp.StatusCode, text) {
			kind = TooLong
		}
		return kind, resp.Status + ": " + clip(string(bytes.TrimSpace(text)))
	}
	read := a.whole
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		read = a.stream
	}
	err := read(resp.Body)
	switch {
	case a.failure != "":
		return InBand, a.failure
	case err != nil:
		return Truncated, err.Error()
	case !a.done && !a.finished:
		return Truncated, "the stream ended before its answer did"
	case a.chunks == 0:
		return Empty, "the answer has no content"
	}
	return Complete, ""
}

// tooLong recognises the refusal of a request that exceeds the model's context,
// in the words of OpenAI, vLLM and llama.cpp.
func tooLong(status int, text []byte) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return false
	}
	for _, words := range []string{"context_length_exceeded", "maximum context length", "exceed_context_size", "never fits the KV cache"} {
		if bytes.Contains(text, []byte(words)) {
			return true
		}
	}
	return false
}

// newTransport returns connections enough for so many requests at once.
func newTransport(inFlight int) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConns: inFlight, MaxIdleConnsPerHost: inFlight, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true, ForceAttemptHTTP2: true,
	}
}
