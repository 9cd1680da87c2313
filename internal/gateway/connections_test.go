package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatewayd/internal/config"
)

// A worker may announce that it keeps a connection and close it behind a
// streamed answer, as llama.cpp does. No client sees that.
func TestConnectionsClosedByTheWorker(t *testing.T) {
	const requests, connections = 1000, 32
	var closed atomic.Int64
	serve := func(c net.Conn, _ *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"stream":true`) {
			closed.Add(1)
			writeRaw(c, strings.Replace(streamHead, "\r\n", "\r\nConnection: keep-alive\r\n", 1), chunk(event("t")+"data: [DONE]\n\n"), "0\r\n\r\n")
			return false
		}
		answer := `{"id":"x","usage":{"prompt_tokens":7,"completion_tokens":3}}`
		return writeRaw(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
	}
	one, two := newRaw(t, serve), newRaw(t, serve)
	w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 2 }, one, two)
	var next, failed atomic.Int64
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for n := next.Add(1); n <= requests; n = next.Add(1) {
				path, body := "/v1/chat/completions", hello
				switch n % 4 {
				case 0, 2:
					body = streamed
				case 1:
					path, body = "/v1/embeddings", wanted["/v1/embeddings"]
				}
				resp, text, err := w.try(t.Context(), path, body)
				if err != nil || resp.StatusCode != http.StatusOK || n%2 == 0 && !strings.HasSuffix(text, "[DONE]\n\n") {
					failed.Add(1)
					t.Errorf("request %d: %v %v %s", n, err, resp, text)
				}
			}
		})
	}
	all.Wait()
	if closed.Load() != requests/2 {
		t.Errorf("%d streams were served, want %d", closed.Load(), requests/2)
	}
	if n := len(one.seen()) + len(two.seen()); n != requests {
		t.Errorf("the workers were asked %d times for %d requests", n, requests)
	}
	if n := w.metric("gatewayd_attempts_total", `outcome="broken"`); n != 0 {
		t.Errorf("%v attempts count as broken", n)
	}
	w.idle()
}

// All connections that are kept may be closed at once: a second try must not
// meet another of them.
func TestEveryKeptConnectionIsStale(t *testing.T) {
	const n = 8
	together, release := make(chan struct{}, n), make(chan struct{})
	var restarted atomic.Bool
	var served sync.Map
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		if _, again := served.LoadOrStore(c, true); again && restarted.Load() {
			return false // as if it had been closed just before
		}
		if !restarted.Load() { // n requests at a time make n connections
			together <- struct{}{}
			select {
			case <-release:
			case <-t.Context().Done(): // the test has failed
			}
		}
		return writeRaw(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	w := newWorld(t, func(c *config.Config) { c.Limits.Attempts = 1 }, f)
	var all sync.WaitGroup
	for range n {
		all.Go(func() { w.post("/v1/chat/completions", hello) })
	}
	for range n {
		<-together
	}
	close(release)
	all.Wait()
	restarted.Store(true)
	for i := range n {
		if resp, text := w.post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
			t.Errorf("request %d: %s %s", i, resp.Status, text)
		}
	}
	if got := len(f.seen()); got != 3*n {
		t.Errorf("%d requests reached the worker, want %d lost ones among %d", got, n, 3*n)
	}
	w.idle()
}

// Connections to workers are used again, however many requests run at once.
func TestConnectionsAreReused(t *testing.T) {
	const requests, parallel = 2000, 32
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	client := &http.Transport{MaxIdleConnsPerHost: parallel}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() {
			for next.Add(1) <= requests {
				req, err := http.NewRequest(http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(hello))
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := client.RoundTrip(req)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
	if n := f.conns.Load(); n > requests/20 {
		t.Errorf("the worker saw %d connections for %d requests", n, requests)
	}
	w.idle()
}

// The worker gets one Content-Length, equal to what it gets, whatever form the
// client's body had.
func TestLengthAtTheWorker(t *testing.T) {
	f := newRaw(t, func(c net.Conn, r *http.Request, body []byte) bool {
		if len(r.TransferEncoding) > 0 || r.ContentLength != int64(len(body)) {
			t.Errorf("length %d, encoding %v for %d bytes", r.ContentLength, r.TransferEncoding, len(body))
		}
		return writeRaw(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	w := newWorld(t, nil, f)
	for _, chunked := range []bool{false, true} {
		for _, size := range []int{0, 100, trusted - 100, trusted + 100, 5 << 20} {
			body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
			var from io.Reader = strings.NewReader(body)
			if chunked {
				from = io.MultiReader(from) // hides the length
			}
			resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", from)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			seen := f.seen()
			if got := string(seen[len(seen)-1].body); resp.StatusCode != http.StatusOK || got != body {
				t.Errorf("size %d, chunked %v: %s, %d of %d bytes", size, chunked, resp.Status, len(got), len(body))
			}
		}
	}
	if n := w.gateway.inMemory.Load(); n != 0 {
		t.Errorf("idle, but bodies of %d bytes count as held", n)
	}
}
