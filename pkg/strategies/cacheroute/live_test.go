package cacheroute

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// asked is what a planner of n workers is told: keys 1 to many of one request per second
// and 100 tokens each, which fit into the caches, by the signal of usage.
func asked(n, many int) router.PlanInput {
	in := router.PlanInput{Now: router.Time(time.Hour), HalfLife: time.Minute, Last: true, Reuse: router.Reuse{By: router.ByUsage, Share: 0.5}}
	for i := range n {
		in.Fleet.Workers = append(in.Fleet.Workers, router.Worker{ID: fmt.Sprint("w", i), KVTokens: 4000, Load: router.Load{Latency: router.Unknown, TTFT: router.Unknown, KVUsed: router.Unknown}})
	}
	for key := range many {
		in.Rates = append(in.Rates, router.KeyRate{Key: uint64(key + 1), Rate: 1, Tokens: 100})
	}
	in.TotalRate = float64(many)
	return in
}

// after has a plan of one home for each key be in force.
func after(in router.PlanInput, home func(key uint64) uint16) router.PlanInput {
	in.Previous, in.PreviousAge = &router.Plan{Expected: make([]float64, len(in.Fleet.Workers))}, 10*time.Second
	for _, w := range in.Fleet.Workers {
		in.Previous.Workers = append(in.Previous.Workers, router.WorkerRef{ID: w.ID})
	}
	for _, r := range in.Rates {
		in.Previous.Table.Append(r.Key, home(r.Key))
		in.Previous.Expected[home(r.Key)] += r.Rate
	}
	return in
}

// planOf is what a new instance plans.
func planOf(t *testing.T, o router.Options, in router.PlanInput) router.Plan {
	t.Helper()
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := instance.(router.Planner).Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// movedKeys counts keys that do not live where they did.
func movedKeys(in router.PlanInput, p router.Plan) (n int) {
	for i, key := range in.Previous.Table.Keys {
		if !slices.Equal(Homes(&p.Table, key), in.Previous.Table.Of(i)) {
			n++
		}
	}
	return n
}

// TestCarriesOn: of an even load nothing moves, though the planner is new and knows no
// more than the plan before it.
func TestCarriesOn(t *testing.T) {
	in := after(asked(4, 40), func(key uint64) uint16 { return uint16(key % 4) })
	for _, by := range []router.Signal{router.NoSignal, router.ByUsage} {
		in.Reuse.By = by
		if p := planOf(t, router.Options{"stated": "0"}, in); movedKeys(in, p) > 0 || len(p.Table.Keys) != 40 {
			t.Errorf("%v: %s", by, p.Note)
		}
	}
}

// TestMovesPay: moves are made if they save more than they cost, and then some at a time;
// with no signal none is.
func TestMovesPay(t *testing.T) {
	crowded := after(asked(4, 40), func(uint64) uint16 { return 0 })
	short, cold := crowded, crowded
	short.HalfLife, short.Reuse.Share = time.Second/10, 0.9
	cold.HalfLife, cold.Reuse.Share = short.HalfLife, 0
	blind, noise := crowded, crowded
	blind.Reuse = router.Reuse{}
	noise.Reuse = router.Reuse{By: router.ByUsage, Share: math.NaN()}
	for _, test := range []struct {
		name  string
		in    router.PlanInput
		stage string
		moved int
		note  string
	}{
		{"a fifth of the traffic", crowded, "0.2", 8, "by usage"},
		{"all at once", crowded, "1", 29, "by usage"},
		{"too short a time", short, "1", 0, "by usage"},
		{"too short a time, but nothing is cached", cold, "1", 29, "by usage"},
		{"no signal", blind, "1", 0, "no signal of reuse: homes are kept"},
		{"no measurement", noise, "1", 0, "no signal of reuse: homes are kept"},
	} {
		p := planOf(t, router.Options{"stated": "0", "stage": test.stage}, test.in)
		if got := movedKeys(test.in, p); got != test.moved || !strings.Contains(p.Note, test.note) {
			t.Errorf("%s: %d moved, want %d; note %q", test.name, got, test.moved, p.Note)
		}
	}
}

// TestNextPlan: the plan says when the next one is due, unless that was given.
func TestNextPlan(t *testing.T) {
	in := after(asked(4, 40), func(key uint64) uint16 { return uint16(key % 4) })
	if p := planOf(t, nil, in); p.Next != in.HalfLife {
		t.Errorf("where nothing drifts the next plan is due after %v, want %v", p.Next, in.HalfLife)
	}
	if p := planOf(t, router.Options{"interval": "2s"}, in); p.Next != 0 {
		t.Errorf("with an interval given the next plan is due after %v", p.Next)
	}
	p, drifted := Planned{IDs: []string{"w0", "w1", "w2", "w3"}, HalfLife: 60, Bound: 1.1}, Placement{Load: []float64{1.01e9, 0.99e9, 1.01e9, 0.99e9}}
	if next := p.lasting(in, drifted); next != time.Minute {
		t.Errorf("the next plan is due after %v, later than the half-life of the rates", next)
	}
}

// TestUnknownCacheIsTheMean: a worker whose cache is unknown gets as many keys as others.
func TestUnknownCacheIsTheMean(t *testing.T) {
	in := asked(2, 4)
	in.Fleet.Workers[0].KVTokens, in.Fleet.Workers[1].KVTokens = 300, 0 // 210 tokens each are planned for
	if p := planOf(t, router.Options{"stated": "0", "everywhere": "1000"}, in); len(p.Table.Keys) != 4 {
		t.Errorf("%s", p.Note)
	}
}

// TestFasterWorkersGetMore: workers whose requests take half the time get about twice the
// load.
func TestFasterWorkersGetMore(t *testing.T) {
	in := asked(4, 200)
	for i := range in.Fleet.Workers {
		in.Fleet.Workers[i].KVTokens = 100_000
		in.Fleet.Workers[i].Load.Latency = router.Gauge{Value: float64(1 + i%2), At: in.Now}
	}
	p := planOf(t, router.Options{"stated": "0"}, in)
	if fast, slow := p.Expected[0]+p.Expected[2], p.Expected[1]+p.Expected[3]; fast < 1.5*slow || len(p.Speeds) != 4 {
		t.Errorf("expected %.1f, speeds %.2f", p.Expected, p.Speeds)
	}
}

// TestStated: a key gets a place where eight requests per half-life speak for it.
func TestStated(t *testing.T) {
	in := asked(4, 3)
	in.Rates[0].Rate, in.Rates[1].Rate, in.Rates[2].Rate = 7.9/60, 8.1/60, 1
	if p := planOf(t, nil, in); !slices.Equal(p.Table.Keys, []uint64{2, 3}) {
		t.Errorf("keys %v have a place: %s", p.Table.Keys, p.Note)
	}
}

// TestHeldWithPeers: other gateways' turns are not in this one's index of prefixes, so
// with peers what is cached ends no hold.
func TestHeldWithPeers(t *testing.T) {
	in := asked(4, 3)
	if b := planOf(t, nil, in).Bind; b.TTL != idle || b.MinCached != worthless {
		t.Errorf("alone: %+v", b)
	}
	in.Fleet.Workers[3].Load.PeersAge = time.Second
	if b := planOf(t, nil, in).Bind; b.TTL != idle || b.MinCached != 0 {
		t.Errorf("with peers: %+v", b)
	}
}

// TestWork: what a request without a place costs a worker, in prompt tokens.
func TestWork(t *testing.T) {
	for _, test := range []struct {
		prompt  float64
		divided bool
		want    [4]float64 // of an uncached token, a queued one, a request in flight, a token held
	}{
		{0, false, [4]float64{1, 1, 500, 0.05}},
		{800, false, [4]float64{1, 1, 100, 0.05}},
		{8000, false, [4]float64{1, 1, 500, 0.05}},
		{800, true, [4]float64{1, 0.2, 20, 0.01}},
	} {
		for i, term := range work(test.prompt, test.divided, nil) {
			feature := [4]router.Feature{router.Uncached, router.QueuedTokens, router.InFlight, router.WorkingSet}[i]
			if term.Feature != feature || math.Abs(term.Weights[0]-test.want[i]) > 1e-12 {
				t.Errorf("prompts of %v, divided %v: %v * %v, want %v * %v", test.prompt, test.divided, term.Feature, term.Weights, feature, test.want[i])
			}
		}
	}
}
