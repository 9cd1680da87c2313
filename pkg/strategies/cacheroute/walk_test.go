package cacheroute

import (
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// expected is the imbalance of a table under other rates than it was made for, where
// the requests of a key with several homes go to the least loaded of them, in 64
// portions.
func expected(t *router.Table, rates []router.KeyRate, workers int) float64 {
	const portions = 64
	load := make([]float64, workers)
	for part := range portions + 1 {
		for _, r := range rates {
			switch homes := Homes(t, r.Key); {
			case len(homes) == 1 && part == 0:
				load[homes[0]] += r.Rate
			case len(homes) > 1 && part > 0:
				load[Preferred(t, load, r.Key, 0)] += r.Rate / portions
			}
		}
	}
	return Imbalance(load)
}

// served is the imbalance of requests that are drawn by rate and go to the least
// loaded of their key's homes by the number of the last recent ones there.
func served(t *router.Table, rates []router.KeyRate, workers, requests, recent int, seed uint64) float64 {
	rng := rand.New(rand.NewPCG(seed, 9))
	load, live, last := make([]float64, workers), make([]float64, workers), make([]int, recent)
	upTo, sum := make([]float64, len(rates)), 0.0
	for i, r := range rates {
		sum += r.Rate
		upTo[i] = sum
	}
	for n := range requests {
		if n >= recent {
			live[last[n%recent]]--
		}
		key := rates[sort.SearchFloat64s(upTo, rng.Float64()*sum)].Key
		w := Preferred(t, live, key, rng.IntN(workers))
		load[w], live[w], last[n%recent] = load[w]+1, live[w]+1, w
	}
	return Imbalance(load)
}

// walker makes plans for rates that drift.
type walker struct {
	plan                            func(rates []router.KeyRate, step int) (router.Table, error)
	first, last                     router.Table
	churn, imbalance, served, stale float64 // sums
}

func (w *walker) step(t *testing.T, rates []router.KeyRate, workers, step int, seed uint64) {
	next, err := w.plan(rates, step)
	switch {
	case err != nil:
		t.Fatal(err)
	case step == 0:
		w.first = next
	default:
		_, churn := Churn(&w.last, &next)
		w.churn += churn
		w.imbalance += expected(&next, rates, workers)
		w.served += served(&next, rates, workers, 9_600, 160, seed)
		w.stale += expected(&w.first, rates, workers)
	}
	w.last = next
}

// whole plans with the strategy as it is served, once a minute.
func whole(t *testing.T, workers int, o router.Options) *walker {
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	var previous *router.Plan
	return &walker{plan: func(rates []router.KeyRate, step int) (router.Table, error) {
		in := router.PlanInput{
			Now: router.Time(step) * router.Time(time.Minute), Rates: rates, HalfLife: time.Minute, PreviousAge: time.Minute, Last: true,
			PromptTokens: 1_200, OutputTokens: 16, Reuse: router.Reuse{By: router.ByUsage, Share: 0.9},
		}
		if step > 0 {
			in.Previous = previous
		}
		var refs []router.WorkerRef
		for _, id := range names(workers) {
			in.Fleet.Workers = append(in.Fleet.Workers, router.Worker{ID: id, KVTokens: 400_000})
			refs = append(refs, router.WorkerRef{ID: id})
		}
		plan, err := instance.(router.Planner).Plan(in)
		plan.Workers, previous = refs, &plan
		return plan.Table, err
	}}
}
