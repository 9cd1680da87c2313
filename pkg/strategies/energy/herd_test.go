package energy

import (
	"fmt"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/leastload"
	"gatewayd/pkg/strategies/lmetric"
	"gatewayd/pkg/strategies/roundrobin"
)

// burst sends n requests at once to four workers over a real core and returns how
// many each got; seen is told of every choice, with the loads before it.
func burst(t *testing.T, d router.Definition, o router.Options, like router.Worker, n int, seen func(before []router.Member, to string)) map[string]int {
	t.Helper()
	instance, err := d.New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	core, err := router.New(router.Config{Pool: "pool", Seed: 1, Links: []router.Link{{Name: d.Name, Info: instance.Info()}}})
	if err != nil {
		t.Fatal(err)
	}
	var members []router.Member
	for i := range 4 {
		w := like
		w.ID = fmt.Sprintf("w%d", i)
		if w.Carbon.GramsPerKWh == (router.Gauge{}) {
			w.Carbon.GramsPerKWh = router.Unknown
		}
		members = append(members, router.Member{Worker: w})
	}
	if err := core.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	for _, task := range core.PlansDue(0) {
		plan, err := instance.(router.Planner).Plan(task.Input())
		if err != nil {
			t.Fatal(err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := core.Install(0, task.Link, compiled); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for i := range n {
		before := core.Loads(0)
		step := core.Arrive(0, router.Request{Key: uint64(i + 1), PromptTokens: 200, MaxTokens: 100, Blocks: []uint64{router.Mix(uint64(i))}, BlockTokens: 200})
		if step.Kind != router.DoDispatch || step.Receipt.Strategy != d.Name {
			t.Fatalf("request %d: step %d by %q", i, step.Kind, step.Receipt.Strategy)
		}
		seen(before, step.Worker.ID)
		counts[step.Worker.ID]++
	}
	return counts
}

func ignore([]router.Member, string) {}

// TestEqualWorkersShare sends 64 requests at once to equal workers.
func TestEqualWorkersShare(t *testing.T) {
	joules := router.Worker{Energy: router.Energy{DecodeJoules: 0.07, PUE: 1.2}}
	grams := joules
	grams.Carbon = router.Carbon{GramsPerKWh: router.Gauge{Value: 300, At: 0}}
	for _, c := range []struct {
		d    router.Definition
		like router.Worker
	}{
		{Joule(), joules}, {Joule(), router.Worker{}}, {Carbon(), grams}, {Carbon(), joules}, {Carbon(), router.Worker{}},
		{leastload.LeastBusy(), joules}, {leastload.Latency(), joules}, {lmetric.Definition(), joules}, {roundrobin.Definition(), joules},
	} {
		counts := burst(t, c.d, nil, c.like, 64, ignore)
		for _, id := range []string{"w0", "w1", "w2", "w3"} {
			if counts[id] != 16 {
				t.Errorf("%s on %+v: %v, want 16 each", c.d.Name, c.like.Energy, counts)
				break
			}
		}
	}
	counts := burst(t, leastload.Choices(), nil, joules, 64, ignore)
	for id, n := range counts {
		if n < 13 || n > 19 {
			t.Errorf("p2c: %v, %s is far from 16", counts, id)
		}
	}
}

// TestWakingPacks has workers that are dear to wake: requests keep to the awake
// ones, but none goes to a worker that would miss the target of 2 s while another
// would not.
func TestWakingPacks(t *testing.T) {
	like := router.Worker{Concurrency: 40, Energy: router.Energy{DecodeJoules: 0.07, WakeWatts: 100}, Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 300, At: 0}}}
	for _, d := range []router.Definition{Joule(), Carbon()} {
		wakes := 0
		counts := burst(t, d, nil, like, 100, func(before []router.Member, to string) {
			seconds := func(m router.Member) float64 {
				return float64(m.Load.QueuedTokens+200)/8000 + 2*float64(m.Load.InFlight)/40
			}
			fits, awake := false, false
			var chosen router.Member
			for _, m := range before {
				fits = fits || seconds(m) <= 2
				awake = awake || m.Load.InFlight > 0 && seconds(m) <= 2
				if m.ID == to {
					chosen = m
				}
			}
			if seconds(chosen) > 2 && fits {
				t.Errorf("%s: sent to %s, where it waits %.2f s, though another has room", d.Name, to, seconds(chosen))
			}
			if chosen.Load.InFlight == 0 {
				wakes++
				if awake {
					t.Errorf("%s woke %s though one that is awake has room", d.Name, to)
				}
			}
		})
		if wakes != 4 || len(counts) != 4 {
			t.Errorf("%s: %d wakes, %v; 100 requests need all four", d.Name, wakes, counts)
		}
		if counts := burst(t, d, nil, like, 20, ignore); len(counts) != 1 {
			t.Errorf("%s: 20 requests went to %v, one worker has room for them", d.Name, counts)
		}
	}
}
