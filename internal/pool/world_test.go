package pool

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/memory"
)

// TestMain makes the test binary two programs: the tests, and the strategies
// that a Set starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], strategyArgument) {
		serveStrategy(strings.TrimPrefix(os.Args[1], strategyArgument))
		return
	}
	goleak.VerifyTestMain(m)
}

// fake is a strategy that does as told.
type fake struct {
	route   func(ctx context.Context, in router.Input) (router.Decision, error)
	plan    func(ctx context.Context, in router.PlanInput) (router.Plan, error)
	observe func(events []router.Event)
}

func (f *fake) RouteContext(ctx context.Context, in router.Input, _ plugin.TraceContext) (router.Decision, error) {
	return f.route(ctx, in)
}

func (f *fake) PlanContext(ctx context.Context, in router.PlanInput, _ plugin.TraceContext) (router.Plan, error) {
	return f.plan(ctx, in)
}

func (f *fake) ObserveContext(_ context.Context, events []router.Event) error {
	f.observe(events)
	return nil
}

func routing(name string, route func(ctx context.Context, in router.Input) (router.Decision, error)) Link {
	return Link{router.Link{Name: name, Info: router.Info{Name: name, Routes: true}}, &fake{route: route}}
}

func planning(name string, plan func(ctx context.Context, in router.PlanInput) (router.Plan, error)) Link {
	return Link{router.Link{Name: name, Info: router.Info{Name: name, Plans: true, Rates: true}}, &fake{plan: plan}}
}

// binding is a strategy whose plan binds every key to the worker that served it.
func binding(name string) Link {
	return planning(name, func(context.Context, router.PlanInput) (router.Plan, error) {
		return router.Plan{Bind: router.Bind{TTL: time.Hour}}, nil
	})
}

// to routes to the i-th worker.
func to(i int) router.Decision {
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: i}}, Reason: "told"}
}

// hang does not answer before its context ends.
func hang(ctx context.Context, _ router.Input) (router.Decision, error) {
	<-ctx.Done()
	return to(0), ctx.Err()
}

// world is a pool under test.
type world struct {
	*Pool
	t *testing.T
}

// inBubble runs a test in virtual time, where a goroutine left behind fails it.
func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// pass lets virtual time pass, and everything happen that is due.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func newPool(t *testing.T, change func(*Config), chain ...Link) *world {
	t.Helper()
	cfg := Config{
		Gateway: "g", Core: router.Config{Pool: "m"}, Chain: chain, Store: memory.New(memory.Options{}),
		SyncInterval: time.Second, PlanTimeout: 5 * time.Second, Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(),
	}
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &world{p, t}
}

// workers gives the pool workers w0, w1 ... with room for so many requests each.
func (w *world) workers(rooms ...int) {
	w.t.Helper()
	var members []router.Member
	for i, room := range rooms {
		members = append(members, router.Member{Worker: router.Worker{ID: fmt.Sprint("w", i), Incarnation: 1, Concurrency: room}})
	}
	if err := w.SetFleet(members); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) acquire(r router.Request) *Assignment {
	w.t.Helper()
	a, err := w.Acquire(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (a *Assignment) complete() { a.Finish(router.Ending{Outcome: router.Completed}, 0) }

// wants checks who decided and why.
func (w *world) wants(a *Assignment, worker, strategy, reason string) {
	w.t.Helper()
	if r := a.Receipt(); a.Worker().ID != worker && worker != "" || r.Strategy != strategy || r.Reason != reason {
		w.t.Errorf("got %s by %s (%s), want %s by %s (%s)", a.Worker().ID, r.Strategy, r.Reason, worker, strategy, reason)
	}
}

// idle checks that nothing of any request is left.
func (w *world) idle() {
	w.t.Helper()
	w.mu.Lock()
	waiters, sent := len(w.waiters), len(w.sent)
	w.mu.Unlock()
	if n := w.Lives(); n != 0 || waiters != 0 || sent != 0 {
		w.t.Errorf("idle, but %d lives, %d waiters and %d workers with requests are left", n, waiters, sent)
	}
	for _, m := range w.Loads() {
		if m.Load.InFlight != 0 || m.Load.QueuedTokens != 0 {
			w.t.Errorf("idle, but %s has %d in flight and %d tokens queued", m.ID, m.Load.InFlight, m.Load.QueuedTokens)
		}
	}
	if q := w.metric("gatewayd_queue_depth"); q != 0 {
		w.t.Errorf("idle, but the queue's depth is %v in the metrics", q)
	}
}

// metric sums the samples of a family whose labels hold all the given texts.
func (w *world) metric(name string, labels ...string) float64 {
	w.t.Helper()
	return scrape(w.t, w.cfg.Telemetry.Metrics, name, labels...)
}

func scrape(t *testing.T, m *telemetry.Metrics, name string, labels ...string) float64 {
	t.Helper()
	r := httptest.NewRecorder()
	m.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
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
			t.Fatal(err)
		}
		sum += v
	}
	return sum
}

// switched is a store that can be away, as an unreachable one is: calls fail, or
// hang until their context ends.
type switched struct {
	state.Store
	mu    sync.Mutex
	away  bool
	hangs bool
}

func (s *switched) set(away, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.hangs = away, hangs
}

func (s *switched) ask(ctx context.Context) error {
	s.mu.Lock()
	away, hangs := s.away, s.hangs
	s.mu.Unlock()
	switch {
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	case away:
		return state.ErrUnavailable
	}
	return nil
}

func (s *switched) Facts(ctx context.Context, pool string, keys []router.FactKey) ([]router.Fact, error) {
	if err := s.ask(ctx); err != nil {
		return nil, err
	}
	return s.Store.Facts(ctx, pool, keys)
}

func (s *switched) Write(ctx context.Context, pool string, w []router.Write) error {
	if err := s.ask(ctx); err != nil {
		return err
	}
	return s.Store.Write(ctx, pool, w)
}

func (s *switched) PutSnapshot(ctx context.Context, pool, gateway string, b []byte, ttl time.Duration) error {
	if err := s.ask(ctx); err != nil {
		return err
	}
	return s.Store.PutSnapshot(ctx, pool, gateway, b, ttl)
}

func (s *switched) Peers(ctx context.Context, pool, self string) ([]state.Peer, error) {
	if err := s.ask(ctx); err != nil {
		return nil, err
	}
	return s.Store.Peers(ctx, pool, self)
}

func (s *switched) Lease(ctx context.Context, pool, gateway string, ttl time.Duration) (state.Lease, error) {
	if err := s.ask(ctx); err != nil {
		return state.Lease{}, err
	}
	return s.Store.Lease(ctx, pool, gateway, ttl)
}

func (s *switched) PublishPlan(ctx context.Context, pool, strategy string, plan state.Plan, ttl time.Duration) error {
	if err := s.ask(ctx); err != nil {
		return err
	}
	return s.Store.PublishPlan(ctx, pool, strategy, plan, ttl)
}
