package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fake is a scripted worker: health and models work, inference does as told. It
// keeps what it was asked. newFake is told in terms of net/http; newRaw writes
// bytes to a connection, which it may cut, keep or hold as it likes.
type fake struct {
	*httptest.Server
	models   []string // that it lists
	conns    atomic.Int64
	mu       sync.Mutex
	requests []seenRequest
	answer   func(w http.ResponseWriter, r *http.Request, body []byte)
	early    func(c net.Conn, r *http.Request) // instead of an answer, before the body is read
}

type seenRequest struct {
	path   string
	header http.Header
	body   []byte
}

func newFake(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, body []byte), models ...string) *fake {
	f := unstarted(answer, models...)
	f.Start()
	t.Cleanup(f.Close)
	return f
}

// unstarted returns a worker that does not listen yet.
func unstarted(answer func(w http.ResponseWriter, r *http.Request, body []byte), models ...string) *fake {
	f := &fake{answer: answer, models: models}
	if models == nil {
		f.models = []string{"m"}
	}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/health":
		case r.URL.Path == "/v1/models":
			io.WriteString(w, f.list())
		case operations[r.URL.Path] != nil:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the gateway has left
			}
			f.see(r, body)
			f.answer(w, r, body)
		default:
			http.NotFound(w, r)
		}
	}))
	f.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			f.conns.Add(1)
		}
	}
	return f
}

func (f *fake) list() string {
	objects := make([]string, len(f.models))
	for i, m := range f.models {
		objects[i] = fmt.Sprintf(`{"id":%q,"object":"model"}`, m)
	}
	return `{"object":"list","data":[` + strings.Join(objects, ",") + `]}`
}

func (f *fake) see(r *http.Request, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, seenRequest{r.URL.RequestURI(), r.Header.Clone(), body})
}

func (f *fake) seen() []seenRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seenRequest(nil), f.requests...)
}

// breakable makes a worker drop all connections once breakIt is called.
func breakable(t *testing.T, f *fake) (broken *fake, breakIt func()) {
	inner := f.Config.Handler
	var off sync.Once
	down := make(chan struct{})
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-down:
			panic(http.ErrAbortHandler)
		default:
			inner.ServeHTTP(w, r)
		}
	})
	return f, func() { off.Do(func() { close(down) }) }
}

// newRaw is a worker that writes its answers to inference byte by byte as told.
// The connection is kept when serve says so; health and models work as usual.
func newRaw(t *testing.T, serve func(c net.Conn, r *http.Request, body []byte) (keep bool)) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{Server: &httptest.Server{URL: "http://" + l.Addr().String()}, models: []string{"m"}}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.conns.Add(1)
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				for in := bufio.NewReader(c); f.one(c, in, serve); {
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return f
}

// one serves one request of a connection.
func (f *fake) one(c net.Conn, in *bufio.Reader, serve func(c net.Conn, r *http.Request, body []byte) (keep bool)) bool {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	if f.early != nil && operations[r.URL.Path] != nil {
		f.early(c, r)
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	switch {
	case r.URL.Path == "/v1/models":
		_, err = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(f.list()), f.list())
	case operations[r.URL.Path] != nil:
		f.see(r, body)
		return serve(c, r, body)
	case r.URL.Path == "/health":
		_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	default:
		_, err = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	}
	return err == nil
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk is text as a chunk of a chunked body.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// writeRaw writes all, and reports whether that was possible.
func writeRaw(c net.Conn, parts ...string) bool {
	_, err := io.WriteString(c, strings.Join(parts, ""))
	return err == nil
}
