package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// fake is a scripted worker: health and models work, inference does as told.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seenRequest
	answer   func(w http.ResponseWriter, r *http.Request, body []byte)
}

type seenRequest struct {
	path   string
	header http.Header
	body   []byte
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body []byte)) *fake {
	f := &fake{answer: answer}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health":
		case "/v1/models":
			io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		case "/v1/chat/completions", "/v1/completions", "/v1/embeddings":
			body, _ := io.ReadAll(r.Body)
			f.mu.Lock()
			f.requests = append(f.requests, seenRequest{r.URL.RequestURI(), r.Header.Clone(), body})
			f.mu.Unlock()
			f.answer(w, r, body)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) seen() []seenRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seenRequest(nil), f.requests...)
}

// world is a gateway in front of fakes, without strategies.
type world struct {
	*httptest.Server
	t   *testing.T
	set *pool.Set
}

func newWorld(t *testing.T, change func(*config.Config), workers ...*fake) *world {
	cfg := config.Default()
	cfg.Probe.Successes = 1
	for i, f := range workers {
		cfg.Workers = append(cfg.Workers, config.Worker{URL: f.URL, ID: fmt.Sprintf("w%d", i)})
	}
	if change != nil {
		change(&cfg)
	}
	tele := telemetry.Off()
	set, err := pool.NewSet(t.Context(), pool.SetConfig{
		Gateway: "g", Core: router.Config{MaxAttempts: cfg.Limits.Attempts, MaxQueue: cfg.Limits.Queue, MaxWait: cfg.Limits.QueueWait},
		Store: memory.New(memory.Options{}), PlanTimeout: time.Second, Telemetry: tele, Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	specs, err := fleet.Specs(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	fl, err := fleet.New(specs, fleet.Options{Probe: cfg.Probe, Breaker: cfg.Breaker, OnChange: func(s *fleet.Snapshot) {
		set.Update(s)
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	g := New(Options{Config: cfg, Pools: set, Workers: fl, Telemetry: tele, Logger: hclog.NewNullLogger()})
	w := &world{t: t, set: set, Server: httptest.NewServer(g)}
	t.Cleanup(func() { w.Close(); fl.Close(); set.Close(); g.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for up := 0; up < len(workers); {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the workers did not come up")
		}
		up = 0
		for _, m := range fl.Snapshot().Pools()["m"] {
			if !m.Down {
				up++
			}
		}
	}
	return w
}

func (w *world) post(path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	resp, text, err := w.try(w.t.Context(), path, body, header...)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, text
}

func (w *world) try(ctx context.Context, path, body string, header ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// idle waits until no request is left and checks that nothing is booked.
func (w *world) idle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	p := w.set.Pools()["m"]
	for p.Lives() > 0 {
		select {
		case <-ctx.Done():
			w.t.Fatalf("%d requests never ended", p.Lives())
		case <-tick.C:
		}
	}
	for _, m := range p.Loads() {
		if m.Load.InFlight != 0 || m.Load.QueuedTokens != 0 {
			w.t.Errorf("idle, but worker %s has %d in flight and %d tokens queued", m.ID, m.Load.InFlight, m.Load.QueuedTokens)
		}
	}
}

// gone returns the address of a worker that refuses connections when asked for
// inference: it is healthy until break is called.
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

func parse(t *testing.T, u string) *url.URL {
	out, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
