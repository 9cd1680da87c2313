package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
)

const streamed = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`

// long is a limit that no test waits for.
const long = time.Minute

// gone waits until the client of a raw connection is away.
func gone(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// Each limit ends the request that runs into it, and the error says which.
func TestTimeoutsAreNamed(t *testing.T) {
	short := 200 * time.Millisecond
	token := chunk(event("t"))
	for name, c := range map[string]struct {
		limit  func(*config.Timeouts)
		serve  func(c net.Conn, r *http.Request, body []byte) bool
		body   string
		status int // 200: the error is in the stream, unless the head came too late for that
	}{
		"timeout_response_head": {func(t *config.Timeouts) { t.ResponseHead = short },
			func(c net.Conn, _ *http.Request, _ []byte) bool { gone(c); return false }, streamed, 504},
		"timeout_first_token": {func(t *config.Timeouts) { t.FirstToken = short },
			func(c net.Conn, _ *http.Request, _ []byte) bool { writeRaw(c, streamHead); gone(c); return false }, streamed, 200},
		"timeout_token_gap": {func(t *config.Timeouts) { t.TokenGap = short },
			func(c net.Conn, _ *http.Request, _ []byte) bool {
				writeRaw(c, streamHead, token)
				gone(c)
				return false
			}, streamed, 200},
		"timeout_total": {func(t *config.Timeouts) { t.Total = short },
			func(c net.Conn, _ *http.Request, _ []byte) bool { gone(c); return false }, hello, 504},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(cfg *config.Config) {
				cfg.Timeouts = config.Timeouts{Connect: long, ResponseHead: long, FirstToken: long, TokenGap: long, Total: long}
				cfg.Limits.Attempts = 1
				c.limit(&cfg.Timeouts)
			}, newRaw(t, c.serve))
			resp, text := w.post("/v1/chat/completions", c.body)
			if resp.StatusCode != c.status && resp.StatusCode != http.StatusGatewayTimeout || strings.Count(text, `"code":"`+name+`"`) != 1 || !strings.Contains(text, "timeouts."+strings.TrimPrefix(name, "timeout_")) {
				t.Errorf("%s %s", resp.Status, text)
			}
			w.idle()
			if n := w.metric("gatewayd_attempts_total", `outcome="timeout"`); n != 1 {
				t.Errorf("%v timeouts counted at the worker", n)
			}
		})
	}
}

// A worker that takes no connection in time is named as such.
func TestConnectTimeoutIsNamed(t *testing.T) {
	w := setup{
		config: func(c *config.Config) { c.Limits.Attempts = 1 },
		dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		},
	}.world(t, newFake(t, answerJSON))
	resp, text := w.post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusGatewayTimeout || !strings.Contains(text, `"code":"timeout_connect"`) || !strings.Contains(text, "timeouts.connect") {
		t.Errorf("%s %s", resp.Status, text)
	}
	w.idle()
}

// The limit is the dialler's own, too.
func TestConnectLimit(t *testing.T) {
	f := newFake(t, answerJSON)
	for limit, want := range map[time.Duration]bool{1: true, long: false} {
		cfg := config.Default()
		cfg.Timeouts.Connect = limit
		c, err := dialer(cfg, nil)(t.Context(), "tcp", f.Listener.Addr().String())
		if err == nil {
			c.Close()
		}
		if (err != nil) != want || want && !tooLate(err) {
			t.Errorf("within %v: %v", limit, err)
		}
	}
}

// A stream that cannot be read has its limit as well: behind its head, and behind all that
// comes.
func TestSilenceOfAnUnreadableStream(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, parts := range map[string]int{"at once": 0, "later": 150} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
				writeRaw(c, head)
				for range parts {
					<-time.After(10 * time.Millisecond)
					writeRaw(c, chunk("x"))
				}
				gone(c)
				return false
			})
			w := newWorld(t, func(c *config.Config) {
				c.Timeouts = config.Timeouts{Connect: long, ResponseHead: long, FirstToken: long, TokenGap: time.Second, Total: long}
			}, f)
			if _, text, err := w.try(t.Context(), "/v1/chat/completions", streamed); err == nil || len(text) != parts {
				t.Errorf("%d bytes came, %v; want %d and an error", len(text), err, parts)
			}
			w.idle()
			if n := w.metric("gatewayd_attempts_total", `outcome="timeout"`); n != 1 || !strings.Contains(w.log.String(), "error=timeout_token_gap") {
				t.Errorf("%v timeouts counted at the worker; the log:\n%s", n, w.log)
			}
		})
	}
}

// The first token has to come within its time although comments come, and
// although the head came late.
func TestCommentsAreNoFirstToken(t *testing.T) {
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		for ok := writeRaw(c, streamHead); ok; ok = writeRaw(c, chunk(": keep-alive\n\n")) {
			<-time.After(2 * time.Millisecond)
		}
		return false
	})
	w := newWorld(t, func(c *config.Config) { c.Timeouts.FirstToken = 500 * time.Millisecond }, f)
	resp, text := w.post("/v1/chat/completions", streamed)
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, ": keep-alive") || !strings.Contains(text, "timeout_first_token") {
		t.Errorf("%s %.300s", resp.Status, text[max(0, len(text)-300):])
	}
	w.idle()
}

// Steady tokens are no silence, however long the stream is.
func TestSteadyStreamCompletes(t *testing.T) {
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		ok := writeRaw(c, streamHead)
		for range 150 {
			<-time.After(10 * time.Millisecond)
			ok = ok && writeRaw(c, chunk(event("t")))
		}
		return ok && writeRaw(c, chunk("data: [DONE]\n\n"), "0\r\n\r\n")
	})
	w := newWorld(t, func(c *config.Config) {
		c.Timeouts.FirstToken, c.Timeouts.TokenGap = time.Second, time.Second
	}, f)
	if _, text := w.post("/v1/chat/completions", streamed); !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Count(text, "data: ") != 151 {
		t.Errorf("the stream ends in %q", text[max(0, len(text)-200):])
	}
	w.idle()
}

// A worker that keeps a finished stream open keeps neither the client nor a slot.
func TestFinishedStreamIsNotWaitedFor(t *testing.T) {
	for name, end := range map[string]func(c net.Conn){
		"silent":        func(c net.Conn) { writeRaw(c, chunk("data: [DONE]\n\n")); gone(c) },
		"no line's end": func(c net.Conn) { writeRaw(c, chunk("data: [DONE]")); gone(c) },
		"comments": func(c net.Conn) {
			for ok := writeRaw(c, chunk("data: [DONE]\n\n")); ok; ok = writeRaw(c, chunk(": still here\n\n")) {
				<-time.After(20 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
				writeRaw(c, streamHead, chunk(event("t")))
				end(c)
				return false
			})
			w := newWorld(t, func(c *config.Config) { c.Timeouts.TokenGap = long }, f)
			ctx, cancel := context.WithTimeout(t.Context(), long/2)
			defer cancel()
			resp, text, err := w.try(ctx, "/v1/chat/completions", streamed)
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(text, "[DONE]") || strings.Contains(text, "error") {
				t.Errorf("%v %q", err, text)
			}
			w.idle()
			if n := w.metric("gatewayd_requests_total", `outcome="completed"`, `code="200"`); n != 1 {
				t.Errorf("%v completed requests counted", n)
			}
		})
	}
}

// A worker that takes no connection is tried within its limit, and the next one
// serves.
func TestBlackHoleFailsOver(t *testing.T) {
	hole := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool { gone(c); return false })
	good := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("t")+"data: [DONE]\n\n")
	})
	w := newWorld(t, func(c *config.Config) { c.Timeouts.ResponseHead = 500 * time.Millisecond; c.Breaker.Failures = 2 }, hole, good)
	for range 20 {
		resp, text := w.post("/v1/chat/completions", streamed)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Gatewayd-Worker") != "w1" || !strings.HasSuffix(text, "[DONE]\n\n") {
			t.Errorf("%s %s", resp.Status, text)
		}
	}
	if n := len(hole.seen()); n == 0 || n > 8 {
		t.Errorf("the black hole was tried %d times", n)
	}
	w.idle()
}

// A worker where nobody listens may have restarted; one that does not answer in
// time has not.
func TestFailedConnections(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		err  error
		says fleet.Outcome
		ok   bool
	}{
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), fleet.Refused, true},
		{dial(os.ErrDeadlineExceeded), fleet.Unreachable, true},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), fleet.Unreachable, true},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, 0, false},
		{io.EOF, 0, false},
	} {
		if says, ok := unreachable(fmt.Errorf("wrapped: %w", c.err)); says != c.says || ok != c.ok {
			t.Errorf("%v: %v, %v, want %v, %v", c.err, says, ok, c.says, c.ok)
		}
	}
}
