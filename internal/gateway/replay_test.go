package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// A request that its first worker does not take reaches the second one whole, of
// whatever size and form its body is.
func TestBodiesAreReplayed(t *testing.T) {
	for name, refuse := range map[string]func(c net.Conn, r *http.Request){
		"reset at once": func(c net.Conn, _ *http.Request) { c.(*net.TCPConn).SetLinger(0) },
		"reset within the body": func(c net.Conn, r *http.Request) {
			io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			c.(*net.TCPConn).SetLinger(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := newRude(t, refuse), newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
				fmt.Fprintf(w, "%d of %d", len(b), r.ContentLength)
			})
			w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, bad, good)
			tried := 0
			for _, size := range []int{10, 100 << 10, 5 << 20, 30 << 20} {
				for _, chunked := range []bool{false, true} {
					body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
					before := w.metric("gatewayd_retries_total")
					w.until("the bad worker to be tried", func() bool {
						var from io.Reader = strings.NewReader(body)
						if chunked {
							from = io.MultiReader(from) // hides the length
						}
						resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", from)
						if err != nil {
							t.Fatal(err)
						}
						defer resp.Body.Close()
						text, err := io.ReadAll(resp.Body)
						if want := fmt.Sprintf("%d of %d", len(body), len(body)); err != nil || resp.StatusCode != http.StatusOK || string(text) != want {
							t.Errorf("size %d, chunked %v: %s %s, %v", size, chunked, resp.Status, text, err)
						}
						return w.metric("gatewayd_retries_total") > before
					})
					tried++
				}
			}
			if tried != 8 {
				t.Errorf("%d of 8 bodies were tried", tried)
			}
			w.idle()
		})
	}
}

// newRude is a worker that is healthy, and breaks off the connection as soon as it
// is asked for inference.
func newRude(t *testing.T, refuse func(c net.Conn, r *http.Request)) *fake {
	f := newRaw(t, func(net.Conn, *http.Request, []byte) bool { return false })
	f.early = refuse
	return f
}
