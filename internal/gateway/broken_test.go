package gateway

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// An answer that the worker breaks off, and in which nothing can be said about
// that, does not look whole to the client: whatever its framing was, and whatever
// the client speaks. The last of the failed answers of a retried request is one of
// them.
func TestBrokenAnswersDoNotLookWhole(t *testing.T) {
	const chunks = "Transfer-Encoding: chunked\r\n\r\n"
	for name, answer := range map[string]string{
		"a length":         "200 OK\r\nContent-Length: 1000\r\n\r\n" + `{"id":"x"}`,
		"chunks":           "200 OK\r\n" + chunks + chunk(`{"id":"x"}`),
		"chunks, half":     "200 OK\r\n" + chunks + "ff\r\n" + `{"id":"x"}`,
		"large chunks":     "200 OK\r\n" + chunks + chunk(`{"id":"`+strings.Repeat("x", 200<<10)+`"}`),
		"an error":         "400 Bad Request\r\n" + chunks + chunk(`{"error":{}}`),
		"an unread stream": "200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\n" + chunks + chunk("opaque"),
		"a held error":     "503 Service Unavailable\r\n" + chunks + chunk(`{"error":{}}`),
		"a held length":    "503 Service Unavailable\r\nContent-Length: 1000\r\n\r\n" + `{"error":{}}`,
	} {
		f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
			writeRaw(c, "HTTP/1.1 ", answer)
			return false
		})
		for _, p := range protocols {
			t.Run(name+", "+p.name, func(t *testing.T) {
				var cas *x509.CertPool
				w := newWorld(t, func(c *config.Config) {
					if c.Breaker.Failures = 1000; p.tls {
						cas = certified(c)
					}
				}, f)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(hello))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := p.client(t, cas).RoundTrip(req)
				if err == nil {
					var text []byte
					text, err = io.ReadAll(resp.Body)
					resp.Body.Close()
					if err == nil {
						t.Errorf("%s %.100q looks whole", resp.Status, text)
					}
				}
				w.idle()
			})
		}
	}
}
