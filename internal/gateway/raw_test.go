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
	"testing"
)

// newRaw is a worker that writes its answers to inference byte by byte as told.
// The connection is kept when serve says so; health and models work as usual.
func newRaw(t *testing.T, serve func(c net.Conn, r *http.Request, body []byte) (keep bool)) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
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
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	switch r.URL.Path {
	case "/v1/models":
		list := `{"object":"list","data":[{"id":"m","object":"model"}]}`
		_, err = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
	case "/v1/chat/completions", "/v1/completions", "/v1/embeddings":
		f.mu.Lock()
		f.requests = append(f.requests, seenRequest{r.URL.RequestURI(), r.Header.Clone(), body})
		f.mu.Unlock()
		return serve(c, r, body)
	case "/health":
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
