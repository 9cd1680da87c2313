package strategies

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestEvenSpread sends 1,000 requests that have nothing in common, one after the
// other, to four idle workers: every strategy has to spread them, and those that
// weigh energy too, where waking a worker costs nothing or nobody knows what.
func TestEvenSpread(t *testing.T) {
	type fleet struct {
		name   string
		worker router.Worker
	}
	unknown := router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}}
	free := router.Worker{
		Energy: router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, SharedJoules: 3, PUE: 1.2},
		Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 300}},
	}
	for _, d := range Catalog() {
		for _, f := range []fleet{{"nothing is known", unknown}, {"waking is free", free}} {
			p, count, now := newPool(t, d.Name, nil, 4, f.worker), map[string]int{}, router.Time(0)
			for i := range 1000 {
				now = now.Add(10 * time.Millisecond)
				s := p.core.Arrive(now, prompt(i, 320))
				for ; s.Kind == router.DoAsk; s = p.core.Answer(now, s.Ticket, p.instance.(router.Strategy).Route(s.Input), true) {
					if o, ok := p.instance.(router.Observer); ok {
						o.Observe(p.core.TakeEvents(0, nil))
					}
				}
				count[s.Worker.ID]++
				now = now.Add(10 * time.Millisecond)
				p.core.FirstToken(now, s.Ticket)
				p.core.Finish(now, s.Ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{PromptTokens: 320, OutputTokens: 20, CachedTokens: -1}})
			}
			for i := range 4 {
				if n := count[fmt.Sprint("w", i)]; n < 190 || n > 310 {
					t.Errorf("%s, where %s: %v, want 250 each, give or take 60", d.Name, f.name, count)
					break
				}
			}
		}
	}
}

// TestGatewaysDoNotSwarm has four gateways send 64 requests at once, each knowing
// of the others what they had before: the one idle worker is not swamped. Any rule
// that sends all to the least load would give it 64 of 112.
func TestGatewaysDoNotSwarm(t *testing.T) {
	const gateways, workers, busy, draws = 4, 4, 16, 50
	even := float64(64+busy*(workers-1)) / workers
	mean := 0.0
	for seed := range uint64(draws) {
		idle := float64(swarm(t, seed, gateways, workers, busy))
		if mean += idle / draws; idle > 1.75*even {
			t.Errorf("seed %d: the idle worker has %v, even would be %v", seed, idle, even)
		}
	}
	if mean < 0.75*even || mean > 1.25*even {
		t.Errorf("the idle worker has %v on the mean, even would be %v", mean, even)
	}
}

// swarm returns how many requests of 64 the idle worker gets.
func swarm(t *testing.T, seed uint64, gateways, workers, busy int) int {
	t.Helper()
	var cores []*router.Core
	others := router.Snapshot{}
	var members []router.Member
	for w := range workers {
		id := fmt.Sprint("w", w)
		members = append(members, router.Member{Worker: router.Worker{ID: id}})
		if w > 0 {
			others.Loads = append(others.Loads, router.WorkerLoad{WorkerRef: router.WorkerRef{ID: id}, InFlight: busy})
		}
	}
	for g := range gateways {
		c, err := router.New(router.Config{Pool: "p", Seed: router.Mix(seed*uint64(gateways) + uint64(g) + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetFleet(0, members); err != nil {
			t.Fatal(err)
		}
		c.Import(0, "others", others)
		cores = append(cores, c)
	}
	idle := 0
	for i := range 64 {
		if s := cores[i%gateways].Arrive(0, router.Request{PromptTokens: 100}); s.Worker.ID == "w0" {
			idle++
		}
	}
	return idle
}
