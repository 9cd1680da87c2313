package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
)

// An answer that says something about the request is the client's, although
// another worker might say something else: nobody else is asked.
func TestAnswersAreNotAskedForAgain(t *testing.T) {
	for _, status := range []int{200, 400, 401, 403, 404, 408, 409, 413, 422, 451, 500, 501, 505} {
		answer := func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.WriteHeader(status)
			io.WriteString(w, `{"from":"the worker"}`)
		}
		one, two := newFake(t, answer), newFake(t, answer)
		w := newWorld(t, nil, one, two)
		for n := 1; n <= 3; n++ {
			resp, text := w.post("/v1/chat/completions", hello)
			if calls := len(one.seen()) + len(two.seen()); resp.StatusCode != status || text != `{"from":"the worker"}` || calls != n {
				t.Errorf("status %d, request %d: %s %s after %d calls", status, n, resp.Status, text, calls)
			}
		}
		w.idle()
	}
}

// A worker that is away for a moment, or has no room, is one of several: with each
// of these statuses the next one is asked, and the client learns nothing of it.
func TestOthersAreAskedForOthers(t *testing.T) {
	for _, status := range []int{429, 502, 503, 504} {
		bad := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(status) })
		w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, bad, newFake(t, answerJSON))
		w.until("the bad worker to be asked", func() bool {
			if resp, text := w.post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
				t.Errorf("status %d became %s %s", status, resp.Status, text)
			}
			return len(bad.seen()) > 0
		})
		w.idle()
	}
}

// A request that may have been executed is not sent again to the same worker: not
// when it was the first on its connection, nor when its answer had begun.
func TestRequestsAreSentOnce(t *testing.T) {
	const served = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	for name, last := range map[string]string{"no answer": "", "half a head": "HTTP/1.1 200 OK\r\nContent-Le", "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"} {
		for _, before := range []int{0, 1} { // requests that were served on the connection
			if name == "no answer" && before == 1 {
				continue // so a kept connection looks that the worker has closed
			}
			var n atomic.Int64
			f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
				if int(n.Add(1)) <= before {
					return writeRaw(c, served)
				}
				writeRaw(c, last)
				return false
			})
			w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, f)
			for range before {
				w.post("/v1/chat/completions", hello)
			}
			if resp, text, err := w.try(t.Context(), "/v1/chat/completions", hello); err == nil && resp.StatusCode != http.StatusBadGateway {
				t.Errorf("%s behind %d: %s %q", name, before, resp.Status, text)
			}
			w.idle()
			if got := int(n.Load()); got != before+1 {
				t.Errorf("%s behind %d: the worker was asked %d times for %d requests", name, before, got, before+1)
			}
		}
	}
}

// A worker that refuses a connection: the request reaches another one, and the
// fleet is told.
func TestRefusedConnectionFailsOver(t *testing.T) {
	var refuses atomic.Bool
	bad, good := newFake(t, answerJSON), newFake(t, answerJSON)
	address := strings.TrimPrefix(bad.URL, "http://")
	told := &heard{}
	w := setup{
		workers: told.behind,
		dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			if to == address && refuses.Load() {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			var d net.Dialer
			return d.DialContext(ctx, network, to)
		},
	}.world(t, bad, good)
	refuses.Store(true)
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 1<<20) + `"}]}`
	w.until("a connection to be refused", func() bool {
		if resp, text := w.post("/v1/chat/completions", body); resp.StatusCode != http.StatusOK || resp.Header.Get("X-Gatewayd-Worker") != "w1" {
			t.Errorf("%s %s from %s", resp.Status, text, resp.Header.Get("X-Gatewayd-Worker"))
		}
		return w.metric("gatewayd_attempts_total", `worker="w0"`, `outcome="connect"`) > 0
	})
	for i, r := range good.seen() {
		if string(r.body) != body {
			t.Errorf("request %d: %d of %d bytes at the second worker", i, len(r.body), len(body))
		}
	}
	if n := len(bad.seen()); n > 0 || told.count(fleet.Refused) == 0 {
		t.Errorf("%d requests at the worker that refuses, which the fleet heard %d times", n, told.count(fleet.Refused))
	}
	w.idle()
}

// The limit of a body's size is the last size that passes, however it is sent.
func TestBodiesUpToTheLimit(t *testing.T) {
	const limit = 4 << 10
	if n := config.Default().Limits.BodyBytes; n < 32<<20 {
		t.Errorf("by default bodies may be of %d bytes", n)
	}
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Limits.BodyBytes = limit }, f)
	for size, status := range map[int]int{limit: 200, limit + 1: 413, 3 * limit: 413} {
		for _, chunked := range []bool{false, true} {
			body := hello + strings.Repeat(" ", size-len(hello))
			var from io.Reader = strings.NewReader(body)
			if chunked {
				from = io.MultiReader(from) // hides the length
			}
			before := len(f.seen())
			resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", from)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != status {
				t.Errorf("%d bytes, chunked %v: %s %s, %v", size, chunked, resp.Status, text, err)
			}
			switch got := f.seen()[before:]; {
			case status == http.StatusOK && (len(got) != 1 || !bytes.Equal(got[0].body, []byte(body))):
				t.Errorf("%d bytes, chunked %v: not at the worker", size, chunked)
			case status != http.StatusOK && (len(got) > 0 || !strings.Contains(string(text), "limits.body_bytes") || !strings.Contains(string(text), fmt.Sprint(limit))):
				t.Errorf("%d bytes, chunked %v: %s, %d calls", size, chunked, text, len(got))
			}
		}
	}
	w.idle()
}
