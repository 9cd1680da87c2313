package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// TestMain fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

type tests struct{ *testing.M }

func (t tests) Run() int {
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return t.M.Run()
}

// world is a gateway in front of fakes, without strategies.
type world struct {
	*httptest.Server
	api     *downstream.Server // serves instead of it, but for TLS
	t       testing.TB
	set     *pool.Set
	gateway *Server
	metrics *telemetry.Metrics
	log     *logged
}

// setup is how a world differs from the usual one.
type setup struct {
	config    func(*config.Config)
	pace      *pace
	telemetry *telemetry.Telemetry
	workers   func(Workers) Workers // stands before the fleet
	recorder  *record.Recorder
	dial      Dial
}

func newWorld(t testing.TB, change func(*config.Config), workers ...*fake) *world {
	t.Helper()
	return setup{config: change}.world(t, workers...)
}

func (s setup) world(t testing.TB, workers ...*fake) *world {
	t.Helper()
	cfg := config.Default()
	cfg.Probe.Successes = 1
	for i, f := range workers {
		cfg.Workers = append(cfg.Workers, config.Worker{URL: f.URL, ID: fmt.Sprintf("w%d", i)})
	}
	if s.config != nil {
		s.config(&cfg)
	}
	tele := s.telemetry
	if tele == nil {
		tele = telemetry.Off()
	}
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
	fl, err := fleet.New(specs, fleet.Options{Probe: cfg.Probe, Breaker: cfg.Breaker, WorkerCAs: cfg.TLS.WorkerCAs, OnChange: func(s *fleet.Snapshot) {
		set.Update(s)
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, set: set, metrics: tele.Metrics, log: &logged{}}
	var behind Workers = fl
	if s.workers != nil {
		behind = s.workers(fl)
	}
	w.gateway = New(Options{Config: cfg, Pools: set, Workers: behind, Telemetry: tele, Recorder: s.recorder, Dial: s.dial,
		Logger: hclog.New(&hclog.LoggerOptions{Output: w.log, Level: hclog.Debug})})
	if s.pace != nil {
		w.gateway.pace = *s.pace
	}
	w.Server = httptest.NewUnstartedServer(downstream.Standard{Handler: w.gateway})
	Serves(w.Config, cfg)
	if w.Config.TLSConfig == nil {
		w.serve()
	} else {
		w.EnableHTTP2, w.TLS = true, w.Config.TLSConfig
		w.StartTLS()
	}
	t.Cleanup(func() { w.Close(); fl.Close(); set.Close(); w.gateway.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for up := 0; up < len(workers); {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the workers did not come up")
		}
		up = 0
		if p := set.Pools()["m"]; p != nil {
			for _, m := range p.Loads() {
				if !m.Down {
					up++
				}
			}
		}
	}
	return w
}

// serve has the gateway served as the daemon does.
func (w *world) serve() {
	w.Config.ReadHeaderTimeout, w.Config.IdleTimeout, w.Config.ErrorLog = 10*time.Second, time.Minute, log.New(w.log, "", 0)
	w.api = downstream.New(downstream.Options{Base: w.Config, Handler: w.gateway, Refuse: Refuse})
	w.URL = "http://" + w.Listener.Addr().String()
	go func() { _ = w.api.Serve(w.Listener) }() // until Close
}

// Close waits until no request runs.
func (w *world) Close() {
	if w.api == nil {
		w.Server.Close()
		return
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := w.api.Shutdown(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// logged is a log that can be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// metric sums the samples of a family whose labels hold all the given texts.
func (w *world) metric(name string, labels ...string) float64 {
	w.t.Helper()
	r := httptest.NewRecorder()
	w.metrics.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	sum := 0.0
lines:
	for line := range strings.Lines(r.Body.String()) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		sum += v
	}
	return sum
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

// until polls a condition; its limit is for hangs, not for speed.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			w.t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// lives is the number of requests in the pool.
func (w *world) lives() int {
	if p := w.set.Pools()["m"]; p != nil {
		return p.Lives()
	}
	return 0
}

// idle waits until no request is left and checks that nothing is booked.
func (w *world) idle() {
	w.t.Helper()
	w.until("all requests to end", func() bool { return w.lives() == 0 })
	<-w.gateway.Idle()
	p := w.set.Pools()["m"]
	if p == nil {
		return
	}
	for _, m := range p.Loads() {
		if m.Load.InFlight != 0 || m.Load.QueuedTokens != 0 {
			w.t.Errorf("idle, but worker %s has %d in flight and %d tokens queued", m.ID, m.Load.InFlight, m.Load.QueuedTokens)
		}
	}
}

func parse(t *testing.T, u string) *url.URL {
	out, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
