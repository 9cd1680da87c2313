package pool

import (
	"context"
	"math"
	"testing"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// engine is what the fleet says of one worker's load.
type engine map[string][]fleet.Load

func (e engine) Loads(pool string) []fleet.Load { return e[pool] }

func gauges(running float64, at time.Time) fleet.Gauges {
	g := router.Gauge{Value: running, At: router.Time(at.UnixNano())}
	return fleet.Gauges{Running: g, Waiting: router.Unknown, KVUsed: router.Unknown}
}

// A worker of two pools carries the requests of both, each once, however often
// the pools tell each other.
func TestPoolsSeeEachOthersLoad(t *testing.T) {
	w := newSet(t, 2, []string{"m", "n"})
	m, n := w.Pools()["m"], w.Pools()["n"]
	var running []*Assignment
	for range 3 {
		a, err := m.Acquire(t.Context(), router.Request{PromptTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, a)
	}
	sum := func(p *Pool) (requests, tokens int) {
		for _, m := range p.Loads() {
			requests, tokens = requests+m.Load.InFlight, tokens+m.Load.QueuedTokens
		}
		return requests, tokens
	}
	for range 20 {
		w.Loads(w.fleet)
	}
	for name, p := range map[string]*Pool{"m": m, "n": n} {
		if requests, tokens := sum(p); requests != 3 || tokens != 300 {
			t.Errorf("pool %s sees %d requests and %d tokens, want 3 and 300", name, requests, tokens)
		}
		if peers := p.Peers(); len(peers) > 0 {
			t.Errorf("pool %s has peers %v: other pools are no gateways", name, peers)
		}
	}
	if got := scrape(t, w.cfg.Telemetry.Metrics, "gatewayd_in_flight"); got != 3 {
		t.Errorf("%v requests in flight by metrics, want 3", got)
	}
	for _, a := range running {
		a.complete()
	}
	w.Loads(w.fleet)
	for name, p := range map[string]*Pool{"m": m, "n": n} {
		if requests, tokens := sum(p); requests != 0 || tokens != 0 {
			t.Errorf("idle, but pool %s sees %d requests and %d tokens", name, requests, tokens)
		}
	}
	if got := scrape(t, w.cfg.Telemetry.Metrics, "gatewayd_in_flight"); got != 0 {
		t.Errorf("idle, but %v requests in flight by metrics", got)
	}
}

// The age of a load is that of the reading, and what was never read has none.
func TestAgeOfLoads(t *testing.T) {
	w := newSet(t, 2, []string{"m"})
	tele := w.cfg.Telemetry.Metrics
	read := time.Now().Add(-time.Hour)
	w.Loads(engine{"m": {{ID: "w0", Gauges: gauges(4, read)}}})
	if age := scrape(t, tele, telemetry.MetricWorkerLoadAge, "w0"); age < 3600 || age > 3700 {
		t.Errorf("a reading of an hour ago is %v s old", age)
	}
	if n := scrape(t, tele, telemetry.MetricWorkerRunning, "w0"); n != 4 {
		t.Errorf("%v running, want 4", n)
	}
	if age := scrape(t, tele, telemetry.MetricWorkerLoadAge, "w1"); age != 0 {
		t.Errorf("a worker that was never read has a load %v s old", age)
	}
	for _, m := range w.Pools()["m"].Loads() {
		if m.ID == "w0" && m.Load.Running.Age(router.Time(time.Now().UnixNano())) < time.Hour {
			t.Errorf("strategies see a reading of an hour ago as %v", m.Load.Running)
		}
	}
	// The figures go with the life that they were read from, the age goes on.
	w.Loads(engine{"m": {{ID: "w0", Gauges: fleet.Gauges{Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown}}}})
	if age := scrape(t, tele, telemetry.MetricWorkerLoadAge, "w0"); age < 3600 {
		t.Errorf("unknown figures are %v s old", age)
	}
	if n := scrape(t, tele, telemetry.MetricWorkerRunning, "w0"); n != 0 {
		t.Errorf("unknown, but %v running by metrics", n)
	}
}

// A worker that left has no metrics, whoever still speaks of it.
func TestMetricsOfAWorkerThatLeft(t *testing.T) {
	w := newSet(t, 2, []string{"m"})
	w.Loads(w.fleet)
	if err := w.fleet.Set(w.specs([]string{"m"})[:1]); err != nil {
		t.Fatal(err)
	}
	w.until("the worker to leave", func() bool { return len(w.fleet.Snapshot().Pools()["m"]) == 1 && w.up("m") == 1 })
	w.until("its metrics to go", func() bool {
		w.Loads(engine{"m": {{ID: "w0", Gauges: gauges(1, time.Now())}, {ID: "w1", Gauges: gauges(4, time.Now())}}})
		return scrape(t, w.cfg.Telemetry.Metrics, telemetry.MetricWorkerRunning, `"w1"`) == 0
	})
	if n := scrape(t, w.cfg.Telemetry.Metrics, telemetry.MetricWorkerUp, `"w0"`); n != 1 {
		t.Errorf("the other one is up %v by metrics", n)
	}
}

// TestReuseByCounters gives a planner what workers say of their prefix caches: only
// what came since the reading before, of both counters, is new.
func TestReuseByCounters(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var told router.Reuse
		w := newPool(t, func(c *Config) { c.Core.PlanInterval, c.Core.RateHalfLife = time.Second, 1000*time.Hour },
			planning("plans", func(_ context.Context, in router.PlanInput) (router.Plan, error) {
				told = in.Reuse
				return router.Plan{}, nil
			}))
		defer w.Close()
		w.workers(0, 0)
		known := func(v float64) fleet.Figure { return fleet.Figure{Value: v, Known: true} }
		for i, x := range []struct {
			queries, hits, others fleet.Figure
			want                  router.Reuse
		}{
			{known(1000), known(900), fleet.Figure{}, router.Reuse{}},                                 // before this gateway's time
			{known(2000), known(1200), known(70), router.Reuse{By: router.ByScrape, Share: 0.3}},      // the other's queries without its hits
			{known(2000), known(1200), fleet.Figure{}, router.Reuse{By: router.ByScrape, Share: 0.3}}, // the same reading
			{fleet.Figure{}, known(1900), known(90), router.Reuse{By: router.ByScrape, Share: 0.3}},   // unknown is not zero
			{known(100), known(90), fleet.Figure{}, router.Reuse{By: router.ByScrape, Share: 0.3}},    // the counters began anew
			{known(1100), known(990), fleet.Figure{}, router.Reuse{By: router.ByScrape, Share: 0.6}},
		} {
			unknown := fleet.Gauges{Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown}
			w.SetLoads([]fleet.Load{
				{ID: "w0", Gauges: unknown, CacheQueries: x.queries, CacheHits: x.hits},
				{ID: "w1", Gauges: unknown, CacheQueries: x.others},
			})
			pass(2 * time.Second)
			if told.By != x.want.By || math.Abs(told.Share-x.want.Share) > 1e-3 {
				t.Errorf("reading %d: a planner is told %+v, want %+v", i, told, x.want)
			}
		}
	})
}
