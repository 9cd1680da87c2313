package replay

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/benchlab/trace"
)

// server answers requests in the virtual time of a bubble, without a network.
type server struct {
	mu   sync.Mutex
	seen []asked
	// answer writes the answer's stream; its error ends it.
	answer func(n int, out *stream) error
	status func(n int) int // nil: 200
	began  time.Time
}

type asked struct {
	at     time.Duration
	body   string
	header http.Header
}

// stream is an answer under way.
type stream struct {
	out *io.PipeWriter
	ctx context.Context // ends when the client leaves
}

// wait lets time pass.
func (s *stream) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// Write writes to the client, unless it has left.
func (s *stream) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.out.Write(b)
}

func (s *stream) event(data string) { fmt.Fprintf(s, "data: %s\n\n", data) }

func (s *stream) role() {
	s.event(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`)
}
func (s *stream) content(text string) {
	s.event(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, text))
}
func (s *stream) usage(prompt, output, cached int) {
	s.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, prompt, output, cached))
}
func (s *stream) done() error {
	s.event("[DONE]")
	return nil
}

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != r.ContentLength {
		return nil, fmt.Errorf("the body has %d bytes, its length says %d", len(body), r.ContentLength)
	}
	s.mu.Lock()
	n := len(s.seen)
	s.seen = append(s.seen, asked{time.Since(s.began), string(body), r.Header})
	s.mu.Unlock()
	status := http.StatusOK
	if s.status != nil {
		status = s.status(n)
	}
	resp := &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Request: r}
	if status != http.StatusOK {
		resp.Body = io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`))
		return resp, nil
	}
	resp.Header.Set("Content-Type", "text/event-stream; charset=utf-8")
	in, out := io.Pipe()
	resp.Body = in
	stop := context.AfterFunc(r.Context(), func() { out.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		out.CloseWithError(s.answer(n, &stream{out, r.Context()}))
	}()
	return resp, nil
}

// traffic is n requests, one every gap.
func traffic(n int, gap time.Duration) *trace.Trace {
	t := &trace.Trace{Name: "test", BlockTokens: 16, Partial: trace.PartialDropped}
	for i := range n {
		t.Requests = append(t.Requests, trace.Request{At: time.Duration(i) * gap, Input: 40, Output: 8})
	}
	return t
}

// play replays traffic to the server in virtual time.
func play(t *testing.T, s *server, tr *trace.Trace, change func(*Options)) (result *Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = playHere(t.Context(), t, s, tr, change)
	})
	return result
}

// playHere is play inside of a bubble.
func playHere(ctx context.Context, t *testing.T, s *server, tr *trace.Trace, change func(*Options)) *Result {
	t.Helper()
	s.began = time.Now()
	c := Config{Trace: tr, Target: &url.URL{Scheme: "http", Host: "server"}, Model: "m", Options: Options{Transport: s}}
	if change != nil {
		change(&c.Options)
	}
	r, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
