package gateway

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestUnreadableAnswers: an answer that is no HTTP that can be read is told as such,
// and not as one that never came.
func TestUnreadableAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, says string }{
		"folded":      {"HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\n\r\n", "malformed header field"},
		"two lengths": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "contradict each other"},
		"coded":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "transfer coding"},
		"garbage":     {"SSH-2.0-x\r\n\r\n", "malformed first line"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if _, err := io.WriteString(conn, c.answer); err != nil {
					t.Error(err)
				}
				_ = conn.(*net.TCPConn).CloseWrite()
			})
			w := newWorld(t, nil, f)
			resp, text := w.post("/v1/chat/completions", hello)
			if resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, `"code":"worker_unreadable"`) || !strings.Contains(text, c.says) {
				t.Errorf("%s %s, want worker_unreadable and %q", resp.Status, text, c.says)
			}
		})
	}
}
