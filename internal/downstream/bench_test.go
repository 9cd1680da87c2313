package downstream

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkServe is a small request and its answer, without a system.
func BenchmarkServe(b *testing.B) {
	const request = "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway:8080\r\nUser-Agent: bench\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: 30\r\n\r\n" + `{"model":"m","prompt":"hello"}`
	s := New(Options{
		Base: &http.Server{ReadHeaderTimeout: long, IdleTimeout: long, MaxHeaderBytes: 1 << 16},
		Handler: handler(func(w Writer, r *Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			h := w.Header()
			h.Set("Content-Type", "application/json")
			h.Set("Content-Length", "2")
			_, _ = io.WriteString(w, "{}")
		}),
	})
	c := newTape(nil)
	again := &repeated{tape: c, text: request, left: b.N}
	b.ReportAllocs()
	b.ResetTimer()
	s.start(s.conn(again))
	<-s.none
}

// repeated is a client that sends the same again and again.
type repeated struct {
	*tape
	text string
	left int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	return strings.NewReader(r.text).Read(b)
}
