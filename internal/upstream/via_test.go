package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gatewayd/internal/http1"
)

// recorder is a transport that keeps what it would have written, and answers.
type recorder struct {
	wire   strings.Builder
	again  string // the body from its beginning
	ctx    context.Context
	answer *http.Response
}

func (r *recorder) RoundTrip(out *http.Request) (*http.Response, error) {
	r.ctx = out.Context()
	trace := httptrace.ContextClientTrace(r.ctx)
	trace.GotConn(httptrace.GotConnInfo{Reused: true})
	if err := out.Write(&r.wire); err != nil { // it tells the trace
		return nil, err
	}
	body, err := out.GetBody()
	if err != nil {
		return nil, err
	}
	again, err := io.ReadAll(body)
	r.again = string(again)
	trace.GotFirstResponseByte()
	return r.answer, err
}

// heard are hooks that keep what they hear.
type heard []string

func (h *heard) Connected(reused bool) { *h = append(*h, fmt.Sprint("connected ", reused)) }
func (h *heard) Wrote(err error)       { *h = append(*h, fmt.Sprint("wrote ", err)) }
func (h *heard) Answered()             { *h = append(*h, "answered") }

// TestVia holds what another transport gets, and what comes back from it.
func TestVia(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "ours")
	w := &worker{address: "w:1"}
	for _, c := range []struct {
		host   string
		header http1.Header
		lines  string
		coding []string // of the answer
		length int64
	}{
		{"other", http1.Header{{Name: "B", Value: "1"}, {Name: "A", Value: "2"}, {Name: "B", Value: "3"}}, "Host: other\r\nContent-Length: 8\r\nA: 2\r\nB: 1\r\nB: 3\r\n", []string{"chunked"}, -1},
		{"", http1.Header{{Name: "User-Agent", Value: "mine"}}, "Host: w:1\r\nUser-Agent: mine\r\nContent-Length: 8\r\n", nil, 6},
		{"", nil, "Host: w:1\r\nContent-Length: 8\r\n", nil, 6},
	} {
		r := w.request(t, "question")
		r.URL.Scheme, r.Host, r.Header = "https", c.host, slices.Clone(c.header)
		next := &recorder{answer: &http.Response{
			StatusCode: 203, Status: "203 Like It", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Close: c.coding == nil,
			Header: http.Header{"D": {"4"}, "C": {"3", "2"}}, ContentLength: c.length, TransferEncoding: c.coding, Body: io.NopCloser(strings.NewReader("answer")),
		}}
		var hooks heard
		resp, err := Via(ctx, next, r, &hooks)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := next.wire.String(), "POST /v1/chat/completions?a=b HTTP/1.1\r\n"+c.lines+"\r\nquestion"; got != want || next.again != "question" {
			t.Errorf("got %q, again %q, want %q", got, next.again, want)
		}
		if next.ctx.Value(key{}) != "ours" || !slices.Equal(hooks, heard{"connected true", "wrote <nil>", "answered"}) || !slices.Equal(r.Header, c.header) {
			t.Errorf("context %v, hooks %q, header %q", next.ctx, hooks, r.Header)
		}
		body, err := io.ReadAll(resp.Body)
		got := fmt.Sprintln(resp.StatusCode, resp.Status, resp.Proto, resp.Minor, resp.Header, resp.Length, resp.Chunked, resp.Close, string(body), err)
		if want := fmt.Sprintln("203 203 Like It HTTP/1.1 1 [{C 3} {C 2} {D 4}]", c.length, c.coding != nil, c.coding == nil, "answer <nil>"); got != want {
			t.Errorf("answer %s, want %s", got, want)
		}
	}
}

// A request that a worker has begun with is not made again by the transport, whatever its
// client says of it.
func TestViaMakesNothingTwice(t *testing.T) {
	var made atomic.Int64
	keys := make(chan string, 10)
	w := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if made.Add(1) == 1 {
			return // so that the next comes on the same connection
		}
		keys <- r.Header.Get("Idempotency-Key") + r.Header.Get("X-Idempotency-Key")
		panic(http.ErrAbortHandler)
	}))
	defer w.Close()
	next := w.Client().Transport
	for i, name := range append([]string{""}, repeated...) {
		made.Store(0)
		for n := range 2 {
			r := (&worker{address: w.Listener.Addr().String()}).request(t, "question")
			if r.URL.Scheme = "https"; name != "" {
				r.Header = http1.Header{{Name: name, Value: "mine"}}
			}
			resp, err := Via(t.Context(), next, r, &heard{})
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != (n == 0) {
				t.Errorf("%q, request %d: %v", name, n, err)
			}
		}
		if n := made.Load(); n != 2 {
			t.Errorf("%q: %d requests were made of 2", name, n)
		}
		if key := <-keys; (key == "mine") != (i > 0) {
			t.Errorf("%q: the worker got the key %q", name, key)
		}
	}
}
