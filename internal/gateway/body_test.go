package gateway

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewayd/internal/config"
)

// dial opens a raw connection to the gateway.
func (w *world) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

const postHead = "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"

// A client that sends nothing, or next to nothing, is cut off; one that is only
// slow is not.
func TestSlowBodies(t *testing.T) {
	f := newFake(t, answerJSON)
	w := setup{pace: &pace{grace: 300 * time.Millisecond, rate: 4 << 10, stall: long}}.world(t, f)
	var all sync.WaitGroup
	for name, send := range map[string]func(c net.Conn){
		"silent":      func(c net.Conn) { fmt.Fprintf(c, postHead, 1000) },
		"half a body": func(c net.Conn) { fmt.Fprintf(c, postHead+"%s", 1000, hello) },
		"wrong path": func(c net.Conn) {
			io.WriteString(c, "POST /nothing HTTP/1.1\r\nHost: g\r\nContent-Length: 1000\r\n\r\n")
		},
		"encoded": func(c net.Conn) {
			io.WriteString(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n")
		},
		"wrong method": func(c net.Conn) {
			io.WriteString(c, "PUT /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: 1000\r\n\r\n")
		},
		"trickle": func(c net.Conn) {
			fmt.Fprintf(c, postHead, 100_000)
			go func() {
				for _, err := c.Write([]byte(" ")); err == nil; _, err = c.Write([]byte(" ")) {
					<-time.After(2 * time.Millisecond)
				}
			}()
		},
	} {
		all.Go(func() {
			c := w.dial()
			send(c)
			answer, _ := io.ReadAll(c) // ends when the gateway closes
			slow := name == "silent" || name == "half a body" || name == "trickle"
			if got := string(answer); slow && (!strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "body_too_slow")) || !strings.HasPrefix(got, "HTTP/1.1 4") {
				t.Errorf("%s: %q", name, got)
			}
		})
	}
	all.Go(func() { // 128 KiB in small pieces, for a second
		c := w.dial()
		body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 128<<10) + `"}]}`
		fmt.Fprintf(c, postHead, len(body))
		for rest := body; len(rest) > 0; {
			n := min(len(rest), 1<<10)
			if _, err := io.WriteString(c, rest[:n]); err != nil {
				t.Errorf("a slow client was cut off: %v", err)
				return
			}
			rest = rest[n:]
			<-time.After(8 * time.Millisecond)
		}
		answer := make([]byte, 12)
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 200" {
			t.Errorf("a slow client got %q, %v", answer, err)
		}
	})
	all.Wait()
	w.idle()
}

// A connection goes on to serve when a limit of a former request has passed.
func TestLimitsEndWithTheirRequest(t *testing.T) {
	const limit = 500 * time.Millisecond
	f := newFake(t, answerJSON)
	w := setup{pace: &pace{grace: limit, rate: 1 << 20, stall: limit}}.world(t, f)
	c := w.dial()
	for range 2 {
		fmt.Fprintf(c, postHead+"%s", len(hello), hello)
		io.WriteString(c, "GET /v1/models HTTP/1.1\r\nHost: g\r\n\r\n")
		answer := make([]byte, 4096)
		for got := ""; strings.Count(got, "HTTP/1.1 200") < 2 || !strings.HasSuffix(got, "]}\n"); {
			n, err := c.Read(answer)
			if got += string(answer[:n]); err != nil {
				t.Fatalf("%q, %v", got, err)
			}
		}
		<-time.After(limit + limit/4)
	}
}

// newEndless returns a worker that streams until its client leaves, once, and tells.
func newEndless(t *testing.T) (f *fake, left <-chan struct{}) {
	gone := make(chan struct{})
	return newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, event(strings.Repeat("x", 64<<10))); err != nil {
				return
			}
		}
	}), gone
}

// A client that takes nothing of its answer does not keep the worker.
func TestClientThatReadsNothing(t *testing.T) {
	f, left := newEndless(t)
	w := setup{pace: &pace{grace: long, rate: 1, stall: 100 * time.Millisecond}}.world(t, f)
	c := w.dial()
	fmt.Fprintf(c, postHead+"%s", len(streamed), streamed)
	<-left
	w.idle()
	if n := w.metric("gatewayd_requests_total", `outcome="cancelled"`); n != 1 {
		t.Errorf("%v cancelled requests counted", n)
	}
}

// Nor does one that takes its answer slowly, behind the time that a request may take: here
// it is as slow as can be.
func TestClientThatReadsSlowly(t *testing.T) {
	f, left := newEndless(t)
	w := setup{pace: &pace{grace: long, rate: 1, stall: long}, config: func(c *config.Config) { c.Timeouts.Total = 100 * time.Millisecond }}.world(t, f)
	c := w.dial()
	fmt.Fprintf(c, postHead+"%s", len(streamed), streamed)
	<-left
	w.idle()
	if cut, late := w.metric("gatewayd_requests_total", `outcome="cancelled"`), w.metric("gatewayd_requests_total", `outcome="failed"`); cut+late != 1 {
		t.Errorf("%v cancelled requests counted, and %v failed ones", cut, late)
	}
}

// Bodies that wait take their own size of memory, and no more.
func TestMemoryOfWaitingBodies(t *testing.T) {
	const parallel, size = 50, trusted + trusted/4
	release := make(chan struct{})
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		select {
		case <-release:
		case <-t.Context().Done(): // the test has failed
		}
		return writeRaw(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Concurrency, c.Limits.QueueWait = 1, time.Hour }, f)
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() {
			if resp, text := w.post("/v1/chat/completions", body); resp.StatusCode != http.StatusOK {
				t.Errorf("%s %s", resp.Status, text)
			}
		})
	}
	w.until("all requests to wait", func() bool { return w.lives() == parallel })
	if n, want := w.gateway.inMemory.Load(), int64(parallel*len(body)); n != want {
		t.Errorf("%d bytes count as held, want %d", n, want)
	}
	if grown, most := heap()-before, int64(parallel*size*5/4+32<<20); grown > most {
		t.Errorf("%d bodies of %d KiB take %d MiB, want at most %d", parallel, size>>10, grown>>20, most>>20)
	}
	close(release)
	all.Wait()
	w.idle()
	if n := w.gateway.inMemory.Load(); n != 0 {
		t.Errorf("idle, but %d bytes count as held", n)
	}
}

// Beyond the memory for bodies a request is turned away, and the rest is served.
func TestMemoryForBodiesIsBounded(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		arrived <- struct{}{}
		<-release
		answerJSON(w, r, b)
	})
	w := newWorld(t, nil, f)
	w.gateway.room = 100 << 10
	body := func(size int) string {
		return `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
	}
	done := make(chan int)
	go func() { resp, _ := w.post("/v1/chat/completions", body(60<<10)); done <- resp.StatusCode }()
	<-arrived
	resp, text := w.post("/v1/chat/completions", body(60<<10))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "overloaded") {
		t.Errorf("%s %s", resp.Status, text)
	}
	go func() { resp, _ := w.post("/v1/chat/completions", body(20<<10)); done <- resp.StatusCode }()
	<-arrived
	close(release)
	for range 2 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if n := w.gateway.inMemory.Load(); n != 0 {
		t.Errorf("idle, but %d bytes count as held", n)
	}
}

// Once its answer has begun, nobody needs a request's body any more.
func TestBodyIsDroppedWithTheHead(t *testing.T) {
	release := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("t"))
		http.NewResponseController(w).Flush()
		<-release
		io.WriteString(w, "data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", strings.NewReader(streamed+strings.Repeat(" ", 4<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, len(event("t")))); err != nil {
		t.Fatal(err)
	}
	if n := w.gateway.inMemory.Load(); n != 0 {
		t.Errorf("the answer flows, and %d bytes of the body count as held", n)
	}
	close(release)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "data: [DONE]\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

// Encoded bodies are refused, however the encoding is written; none, or identity, is none.
func TestEncodedBodiesAreRefused(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 4<<20))
	z.Close()
	for _, encodings := range [][]string{{"gzip"}, {"identity", "gzip"}, {"GZIP"}, {"identity, gzip"}, {"zstd"}} {
		req, err := http.NewRequest(http.MethodPost, w.URL+"/v1/chat/completions", bytes.NewReader(bomb.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Content-Encoding"] = encodings
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %s", encodings, resp.Status)
		}
	}
	for _, none := range []string{"", "identity", "Identity", "IDENTITY"} {
		if resp, text := w.post("/v1/chat/completions", hello, "Content-Encoding", none); resp.StatusCode != http.StatusOK {
			t.Errorf("%q: %s %s", none, resp.Status, text)
		}
	}
}
