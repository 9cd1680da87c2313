package strategies

import (
	"fmt"
	"testing"

	"gatewayd/pkg/router"
)

// pool is a core with one strategy and equal workers.
type pool struct {
	core     *router.Core
	instance router.Instance
}

func newPool(t *testing.T, name string, o router.Options, workers int, w router.Worker) *pool {
	t.Helper()
	return newSeededPool(t, 1, name, o, workers, w)
}

// newSeededPool is newPool with a seed; the built-in needs no link.
func newSeededPool(t *testing.T, seed uint64, name string, o router.Options, workers int, w router.Worker) *pool {
	t.Helper()
	p, config := &pool{}, router.Config{Pool: "herd", Seed: seed}
	if name != router.BuiltIn {
		d, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.instance, err = d.New(o, 1); err != nil {
			t.Fatal(err)
		}
		config.Links = []router.Link{{Name: name, Info: p.instance.Info()}}
	}
	var err error
	if p.core, err = router.New(config); err != nil {
		t.Fatal(err)
	}
	var members []router.Member
	for i := range workers {
		w.ID = fmt.Sprintf("w%d", i)
		members = append(members, router.Member{Worker: w})
	}
	if err := p.core.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	p.plan(t, 0)
	return p
}

// plan makes the plans that are due.
func (p *pool) plan(t *testing.T, now router.Time) {
	t.Helper()
	for _, task := range p.core.PlansDue(now) {
		plan, err := p.instance.(router.Planner).Plan(task.Input())
		if err != nil {
			t.Fatal(err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.core.Install(now, task.Link, compiled); err != nil {
			t.Fatal(err)
		}
	}
}

// send sends a request and returns the worker that the strategy chose.
func (p *pool) send(t *testing.T, r router.Request) string {
	t.Helper()
	s := p.core.Arrive(0, r)
	for ; s.Kind == router.DoAsk; s = p.core.Answer(0, s.Ticket, p.instance.(router.Strategy).Route(s.Input), true) {
		if o, ok := p.instance.(router.Observer); ok {
			o.Observe(p.core.TakeEvents(0, nil))
		}
	}
	if s.Kind != router.DoDispatch || s.Receipt.Strategy == router.BuiltIn {
		t.Fatalf("step %d by %q", s.Kind, s.Receipt.Strategy)
	}
	return s.Worker.ID
}

// prompt is one that shares nothing with any other.
func prompt(i int, tokens int) router.Request {
	blocks := make([]uint64, tokens/16)
	for b := range blocks {
		blocks[b] = router.Mix(uint64(i+1)<<20 + uint64(b))
	}
	return router.Request{Key: uint64(i + 1), PromptTokens: tokens, Blocks: blocks, BlockTokens: 16, MaxTokens: 100}
}

// TestNoHerd sends 64 requests at once to four equal workers: none may be run
// down.
func TestNoHerd(t *testing.T) {
	equal := router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}}
	energy := equal
	energy.Energy = router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, PUE: 1.2}
	energy.Carbon.GramsPerKWh = router.Gauge{Value: 300}
	for _, test := range []struct {
		name    string
		options router.Options
		worker  router.Worker
		spread  int // of the fullest and the emptiest worker
	}{
		{"least-busy", nil, equal, 0},
		{"least-busy", router.Options{"mode": "seed"}, equal, 0},
		{"round-robin", nil, equal, 0},
		{"latency", nil, equal, 0},
		{"joule", nil, equal, 0},
		{"joule", nil, energy, 0},
		{"carbon", nil, equal, 0},
		{"carbon", nil, energy, 0},
		{"lmetric", nil, equal, 0},
		{"dynamo", nil, equal, 0},
		{"prefix", nil, equal, 0},
		{"preble", nil, equal, 0},
		{"weighted", nil, equal, 0},
		{"p2c", nil, equal, 4},
	} {
		p, count := newPool(t, test.name, test.options, 4, test.worker), map[string]int{}
		for i := range 64 {
			count[p.send(t, prompt(i, 320))]++
		}
		for w, n := range count {
			if len(count) != 4 || n < 16-test.spread || n > 16+test.spread {
				t.Errorf("%s %v: %s got %d of 64 requests: %v", test.name, test.options, w, n, count)
			}
		}
	}
}

// TestPacking sends requests to workers whose wake power is known: they pack, but
// none goes where it is expected to miss the target for the time to first token
// while another worker could meet it.
func TestPacking(t *testing.T) {
	const workers, batch, prefill, ttft = 4, 64, 8000, 2.0 // the defaults
	for _, name := range []string{"joule", "carbon"} {
		w := router.Worker{
			Energy: router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, WakeWatts: 300, PUE: 1.2},
			Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 300}},
		}
		p, used := newPool(t, name, nil, workers, w), map[string]bool{}
		packed := 0
		for i := range 200 {
			r := prompt(i, 160*(1+i%5))
			predicted, meets := map[string]float64{}, false
			for _, m := range p.core.Loads(0) {
				predicted[m.ID] = float64(m.Load.QueuedTokens+r.PromptTokens)/prefill + ttft*float64(m.Load.InFlight)/batch
				meets = meets || predicted[m.ID] <= ttft
			}
			at := p.send(t, r)
			if meets && predicted[at] > ttft {
				t.Fatalf("%s: request %d went to %s, predicted %v: %v", name, i, at, predicted[at], predicted)
			}
			if used[at] = true; len(used) == 1 {
				packed++
			}
		}
		if packed < 10 || len(used) != workers {
			t.Errorf("%s: %d requests on the first worker before another was woken, %d workers used in the end", name, packed, len(used))
		}
	}
}
