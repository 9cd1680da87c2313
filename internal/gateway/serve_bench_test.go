package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatewayd/internal/downstream"
	"gatewayd/internal/http1"
	"gatewayd/internal/telemetry"
)

// canned is a connection to a worker that answers each request at once with the same
// pieces, one a read. A request ends with two brackets that end a write.
type canned struct {
	net.Conn // nil: nothing else is called
	pieces   []string
	left     []string
	asked    chan struct{}
}

func (c *canned) Write(b []byte) (int, error) {
	if bytes.HasSuffix(b, []byte("]}")) || bytes.HasSuffix(b, []byte("}}")) {
		c.asked <- struct{}{}
	}
	return len(b), nil
}

func (c *canned) Read(b []byte) (int, error) {
	if len(c.left) == 0 {
		<-c.asked
		c.left = c.pieces
	}
	n := copy(b, c.left[0])
	if n < len(c.left[0]) {
		return n, io.ErrShortBuffer
	}
	c.left = c.left[1:]
	return n, nil
}

func (c *canned) Close() error                { return nil }
func (c *canned) SetDeadline(time.Time) error { return nil }

// thrown is an answer that is thrown away.
type thrown struct {
	header http1.Header
	status int
	bytes  int
}

func (a *thrown) Header() *http1.Header            { return &a.header }
func (a *thrown) WriteHeader(status int)           { a.status = status }
func (a *thrown) Write(b []byte) (int, error)      { a.bytes += len(b); return len(b), nil }
func (a *thrown) Flush() error                     { return nil }
func (a *thrown) SetReadDeadline(time.Time) error  { return nil }
func (a *thrown) SetWriteDeadline(time.Time) error { return nil }

func chunked(pieces ...string) (out []string) {
	out = []string{streamHead}
	for _, p := range pieces {
		out = append(out, chunk(p))
	}
	return append(out, "0\r\n\r\n")
}

// cpuTime is what the process has used so far: on a busy machine it tells more than
// what has passed.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkServe is the gateway's own work on a request: no network, no server and no
// strategies, and one trace of a hundred.
func BenchmarkServe(b *testing.B) {
	const line = `Some words of a line, as many as fit on one, and \"quotes\".\n`
	message := `{"role":"user","content":"` + strings.Repeat(line, 32) + `"}`
	body := func(messages int, more string) string {
		return `{"model":"m","user":"user-1","temperature":0.7,"max_tokens":256` + more + `,"messages":[` + strings.TrimSuffix(strings.Repeat(message+",", messages), ",") + `]}`
	}
	const usage = `"usage":{"prompt_tokens":500,"completion_tokens":200,"total_tokens":700}}`
	answer := `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("word ", 160) + `"},"finish_reason":"stop"}],` + usage
	whole := []string{fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)}
	var events []string
	for range 200 {
		events = append(events, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`+"\n\n")
	}
	for _, c := range []struct {
		name, body string
		answer     []string
	}{
		{"2KB", body(1, ""), whole},
		{"200KB", body(100, ""), whole},
		{"stream-of-200", body(1, `,"stream":true`), chunked(append(events, "data: [DONE]\n\n")...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := newFake(b, answerJSON)
			env := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}
			tele, err := telemetry.Setup(b.Context(), telemetry.Options{Getenv: func(name string) string { return env[name] }})
			if err != nil {
				b.Fatal(err)
			}
			defer tele.Shutdown(context.Background())
			w := setup{telemetry: tele, dial: func(context.Context, string, string) (net.Conn, error) {
				return &canned{pieces: c.answer, asked: make(chan struct{}, 1)}, nil
			}}.world(b, f)
			b.ReportAllocs()
			before := cpuTime(b)
			defer func() { b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op") }()
			head := http1.Request{Method: http.MethodPost, Path: "/v1/chat/completions", Minor: 1, Length: int64(len(c.body)), Header: http1.HeaderOf(http.Header{
				"User-Agent": {"bench"}, "Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "Authorization": {"Bearer none"}, "Content-Type": {"application/json"},
			})}
			for b.Loop() {
				s := &thrown{}
				w.gateway.Serve(s, downstream.NewRequest(b.Context(), head, io.NopCloser(strings.NewReader(c.body))))
				if s.status != http.StatusOK || s.bytes == 0 {
					b.Fatalf("status %d, %d bytes", s.status, s.bytes)
				}
			}
		})
	}
}
