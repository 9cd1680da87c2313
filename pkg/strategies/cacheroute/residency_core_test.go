package cacheroute

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// signals are what a host may know of reuse.
var signals = []router.Signal{router.ByUsage, router.ByScrape, router.ByTTFT, router.NoSignal}

// cores serves TestResidency's workload through a core: one arrival a second,
// as many requests in flight as count as live load there, and an index of prefixes that believes what it sent.
func cores(t *testing.T, seed uint64, by router.Signal, options router.Options) (hit, imbalance float64, note string) {
	t.Helper()
	instance, err := Definition().New(options, seed)
	if err != nil {
		t.Fatal(err)
	}
	planner := instance.(router.Planner)
	core, err := router.New(router.Config{
		Pool: "p", Seed: seed, Links: []router.Link{{Name: name, Info: instance.Info()}},
		PlanInterval: 2000 * time.Second, RateHalfLife: 4000 * time.Second, MaxLife: 1e6 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	const tokens, inFlight = 100, window
	members, number := make([]router.Member, fleet), map[string]int{}
	for i := range members {
		members[i].Worker = router.Worker{ID: fmt.Sprintf("w%d", i), KVTokens: slotsEach * tokens}
		number[members[i].ID] = i
	}
	if err := core.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	type open struct {
		ticket router.Ticket
		cached int
	}
	var running []open
	draw, c := zipf(rand.New(rand.NewPCG(seed, 7))), newCluster()
	var looked, found [fleet]float64
	for i := range arrivals {
		now := router.Time(i) * router.Time(time.Second)
		for _, task := range core.PlansDue(now) {
			plan, err := planner.Plan(task.Input())
			if err != nil {
				t.Fatal(err)
			}
			plan.Version, note = task.Version, plan.Note
			compiled, err := router.Compile(&plan)
			if err != nil {
				t.Fatal(err)
			}
			if err := core.Install(now, task.Link, compiled); err != nil {
				t.Fatal(err)
			}
		}
		if len(running) == inFlight {
			usage := router.Usage{PromptTokens: tokens, CachedTokens: -1}
			if by == router.ByUsage {
				usage.CachedTokens = running[0].cached
			}
			core.Finish(now, running[0].ticket, router.Ending{Outcome: router.Completed, Usage: usage})
			running = running[1:]
		}
		key := draw()
		step := core.Arrive(now, router.Request{Key: key + 1, PromptTokens: tokens, Blocks: []uint64{key + 1}, BlockTokens: tokens})
		w, before := number[step.Worker.ID], c.hits
		c.serve(key, w)
		cached := (c.hits - before) * tokens
		if by == router.ByTTFT {
			core.FirstToken(now.Add(time.Duration(1+tokens-cached)*time.Millisecond), step.Ticket)
		} else if by == router.ByScrape {
			looked[w], found[w] = looked[w]+tokens, found[w]+float64(cached)
			core.SetCacheUse(now, step.Worker.ID, looked[w], found[w])
		}
		running = append(running, open{step.Ticket, cached})
	}
	return float64(c.hits) / arrivals, Imbalance(c.served[:]), note
}

// TestResidencyThroughCore runs the whole strategy, and tells what each signal is
// worth. Without any, nothing is divided.
func TestResidencyThroughCore(t *testing.T) {
	for _, by := range signals {
		hit, imbalance, note := cores(t, 0, by, router.Options{"fill": "1"})
		t.Logf("%v: hit %.4f imbalance %.3f; %s", by, hit, imbalance, note)
		least := 0.779
		if by == router.NoSignal {
			least = 0.71
		}
		if hit < least || imbalance > 1.05 {
			t.Errorf("%v: hit %.4f imbalance %.3f, want at least %v at most 1.05", by, hit, imbalance, least)
		}
		if told := strings.Contains(note, "no signal of reuse"); told != (by == router.NoSignal) {
			t.Errorf("%v: the note says %q", by, note)
		}
	}
	for seed := uint64(1); seed < 3 && !testing.Short(); seed++ {
		if hit, imbalance, _ := cores(t, seed, router.ByUsage, router.Options{"fill": "1"}); hit < 0.779 || imbalance > 1.05 {
			t.Errorf("seed %d: hit %.4f imbalance %.3f, want at least 0.779 at most 1.05", seed, hit, imbalance)
		}
	}
}
