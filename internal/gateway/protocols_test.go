package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// protocol is a way to speak with the gateway.
type protocol struct {
	name  string
	tls   bool
	major int
}

var protocols = []protocol{{"HTTP/1.1", false, 1}, {"HTTP/1.1 over TLS", true, 1}, {"HTTP/2 over TLS", true, 2}, {"HTTP/2 without TLS", false, 2}}

// certified makes the gateway serve with a certificate, and returns the pool that
// vouches for it.
func certified(c *config.Config) *x509.CertPool {
	issuer := unstarted(nil)
	issuer.StartTLS()
	defer issuer.Close()
	c.TLS.Certificate = &issuer.TLS.Certificates[0]
	pool := x509.NewCertPool()
	pool.AddCert(issuer.Certificate())
	return pool
}

// client speaks one protocol only.
func (p protocol) client(t *testing.T, cas *x509.CertPool) *http.Transport {
	c := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: cas, ServerName: "example.com"}, Protocols: new(http.Protocols)}
	c.Protocols.SetHTTP1(p.major == 1)
	c.Protocols.SetHTTP2(p.major == 2 && p.tls)
	c.Protocols.SetUnencryptedHTTP2(p.major == 2 && !p.tls)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// Whatever a client speaks, it gets whole answers, streams as they come, errors in
// the API's form, and is missed when it leaves.
func TestProtocols(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			sent, read, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
			f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
				if !strings.Contains(string(b), `"stream":true`) {
					answerJSON(w, r, b)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for r.Context().Err() == nil {
					io.WriteString(w, event("é"))
					http.NewResponseController(w).Flush()
					select {
					case sent <- struct{}{}:
						<-read
					case <-r.Context().Done():
					}
				}
				gone <- struct{}{}
			})
			var cas *x509.CertPool
			w := newWorld(t, func(c *config.Config) {
				if c.Limits.BodyBytes = 100 << 10; p.tls {
					cas = certified(c)
				}
			}, f)
			client := p.client(t, cas)
			var reused bool // the last request's connection
			ask := func(ctx context.Context, body string) *http.Response {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := client.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
					GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused },
				})))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { resp.Body.Close() })
				return resp
			}
			tooLarge := `{"x":"` + strings.Repeat("x", 200<<10) + `"}`
			for body, want := range map[string]int{hello: 200, `{`: 400, tooLarge: 413} {
				resp := ask(t.Context(), body)
				if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != want || resp.ProtoMajor != p.major || !strings.HasPrefix(string(text), "{") {
					t.Errorf("%.20s: %s %s %s, %v", body, resp.Proto, resp.Status, text, err)
				}
			}
			io.Copy(io.Discard, ask(t.Context(), tooLarge).Body)
			if io.Copy(io.Discard, ask(t.Context(), hello).Body); reused != (p.major == 2) {
				t.Errorf("behind a body that is too large the connection goes on: %v", reused)
			}
			ctx, cancel := context.WithCancel(t.Context())
			resp := ask(ctx, streamed)
			for range 5 {
				<-sent
				got := make([]byte, len(event("é")))
				if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != event("é") {
					t.Fatalf("%q, %v", got, err)
				}
				read <- struct{}{}
			}
			<-sent // and the next one is not read
			cancel()
			close(read)
			<-gone
			w.idle()
			if n := w.metric("gatewayd_requests_total", `outcome="cancelled"`); n != 1 {
				t.Errorf("%v cancelled requests counted", n)
			}
		})
	}
}

// A client that leaves before there is a token, however it does that, is missed by
// the worker, which is not blamed; nobody else is asked.
func TestWaysToLeave(t *testing.T) {
	raw := func(leave func(c *net.TCPConn)) func(t *testing.T, w *world, arrived chan struct{}) {
		return func(t *testing.T, w *world, arrived chan struct{}) {
			c := w.dial()
			fmt.Fprintf(c, postHead+"%s", len(hello), hello)
			<-arrived
			leave(c.(*net.TCPConn))
		}
	}
	for name, leave := range map[string]func(t *testing.T, w *world, arrived chan struct{}){
		"close": raw(func(c *net.TCPConn) { c.Close() }),
		"reset": raw(func(c *net.TCPConn) { c.SetLinger(0); c.Close() }),
		"HTTP/2 cancel": func(t *testing.T, w *world, arrived chan struct{}) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (protocol{major: 2}).client(t, nil).RoundTrip(req); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, gone := make(chan struct{}), make(chan struct{})
			wait := func(w http.ResponseWriter, r *http.Request, _ []byte) {
				arrived <- struct{}{}
				<-r.Context().Done()
				gone <- struct{}{}
			}
			one, two := newFake(t, wait), newFake(t, wait)
			w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1 }, one, two)
			leave(t, w, arrived)
			<-gone
			w.idle()
			if n := len(one.seen()) + len(two.seen()); n != 1 {
				t.Errorf("%d calls", n)
			}
			if n := w.metric("gatewayd_requests_total", `outcome="cancelled"`, `code="499"`); n != 1 {
				t.Errorf("%v cancelled requests counted", n)
			}
			for _, m := range w.set.Pools()["m"].Loads() {
				if m.Down {
					t.Errorf("worker %s is blamed", m.ID)
				}
			}
		})
	}
}

// Workers may speak TLS, with a certificate that the configuration vouches for.
func TestWorkersWithTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		f := unstarted(answerJSON)
		f.EnableHTTP2 = http2
		f.StartTLS()
		t.Cleanup(f.Close)
		w := newWorld(t, func(c *config.Config) {
			c.TLS.WorkerCAs = x509.NewCertPool()
			c.TLS.WorkerCAs.AddCert(f.Certificate())
		}, f)
		for range 3 {
			if resp, text := w.post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
				t.Errorf("HTTP/2 %v: %s %s", http2, resp.Status, text)
			}
		}
		if got := f.seen(); string(got[0].body) != hello {
			t.Errorf("the worker got %s", got[0].body)
		}
		w.idle()
		w.gateway.Close()
	}
}
