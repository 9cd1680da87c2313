package gateway

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/upstream"
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

// twice is a transport that loses a request midway and sends it again, as net/http's does
// by itself.
type twice struct{ next http.RoundTripper }

func (d twice) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.CopyN(io.Discard, r.Body, r.ContentLength/2); err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = body
	return d.next.RoundTrip(r)
}

// A body that the transport beneath sends again is whole, also one that is not as the
// client has sent it.
func TestBodiesAreReplayedBeneath(t *testing.T) {
	f := unstarted(answerJSON)
	f.StartTLS()
	t.Cleanup(f.Close)
	w := newWorld(t, func(c *config.Config) {
		c.TLS.WorkerCAs = x509.NewCertPool()
		c.TLS.WorkerCAs.AddCert(f.Certificate())
		c.Workers[0].Names = map[string]string{"m": "own"}
	}, f)
	w.gateway.transport = upstream.New(upstream.Options{Next: twice{w.gateway.fresh}})
	if resp, text := w.post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, text)
	}
	seen := f.seen()
	if want := strings.Replace(hello, `"m"`, `"own"`, 1); len(seen) != 1 || string(seen[0].body) != want {
		t.Errorf("the worker got %q, want %s", seen, want)
	}
	w.idle()
}
