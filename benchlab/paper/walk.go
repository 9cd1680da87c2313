package paper

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/sim"
	"gatewayd/pkg/router"
)

// walk is a planner on its way through intervals.
type walk struct {
	planner           router.Planner
	fleet             []router.Worker
	first, last       *router.Plan
	now               router.Time
	steps             float64
	cache, count      float64
	imbalance, staled float64
}

func newWalk(text string) (*walk, error) {
	links, err := chain.Open(text, 1)
	if err != nil {
		return nil, err
	}
	planner, ok := links[0].Instance.(router.Planner)
	if !ok {
		return nil, fmt.Errorf("%s does not plan", text)
	}
	bed, err := small(false)
	if err != nil {
		return nil, err
	}
	w := &walk{planner: planner}
	for _, member := range sim.Fleet(Workers, bed.profile) {
		w.fleet = append(w.fleet, member.Worker)
	}
	return w, nil
}

const interval = router.Time(60e9) // a minute

// reusable is the share of a prompt that a cache can hold, which is what is
// measured while homes stay: all but the turn.
var reusable = 1 - float64(prompt.Turn)/float64(prompt.Template+prompt.Context+prompt.Turn)

// step plans for new rates.
func (w *walk) step(keys []workload.Key, rate float64) error {
	w.now += interval
	in := telemetry(keys, rate).inform(router.PlanInput{
		Now: w.now, Seed: 1, Pool: "paper", Fleet: router.Fleet{Number: 1, Workers: slices.Clone(w.fleet)},
		PromptTokens: float64(prompt.Tokens()), OutputTokens: answer, HalfLife: time.Duration(interval),
		Reuse: router.Reuse{By: router.ByUsage, Share: reusable}, Last: true, Previous: w.last, PreviousAge: time.Duration(interval),
	})
	plan, err := w.planner.Plan(in)
	if err != nil {
		return err
	}
	plan.Version = uint64(w.now / interval)
	if w.last == nil {
		w.first, w.last = &plan, &plan
		return nil
	}
	cache, count := churn(&w.last.Table, &plan.Table)
	w.steps++
	w.cache, w.count = w.cache+cache, w.count+count
	w.imbalance += expected(&plan.Table, in.Rates, len(w.fleet))
	w.staled += expected(&w.first.Table, in.Rates, len(w.fleet))
	w.last = &plan
	return nil
}

func (w *walk) means() []float64 {
	return []float64{w.cache / w.steps, w.count / w.steps, w.imbalance / w.steps, w.staled / w.steps}
}

// churn compares the keys of two tables of one fleet: the mean of 1 - Jaccard of
// their workers, and the share whose number of workers differs.
func churn(before, after *router.Table) (cache, count float64) {
	both := 0.0
	for i, key := range after.Keys {
		k, ok := slices.BinarySearch(before.Keys, key)
		if !ok {
			continue
		}
		old, members, common := before.Of(k), after.Of(i), 0
		for _, m := range members {
			if slices.Contains(old, m) {
				common++
			}
		}
		both++
		cache += 1 - float64(common)/float64(len(old)+len(members)-common)
		if len(old) != len(members) {
			count++
		}
	}
	return cache / max(1, both), count / max(1, both)
}

// expected is the imbalance of the load that a table gives to workers. Requests of a
// key with several go to the least loaded of them, in portions.
func expected(t *router.Table, rates []router.KeyRate, workers int) float64 {
	const portions = 64
	load, sum := make([]float64, workers), 0.0
	for part := range portions + 1 {
		for _, r := range rates {
			k, ok := slices.BinarySearch(t.Keys, r.Key)
			if !ok {
				continue
			}
			members := t.Of(k)
			switch {
			case len(members) == 1 && part == 0:
				load[members[0]] += r.Rate
				sum += r.Rate
			case len(members) > 1 && part > 0:
				least := slices.MinFunc(members, func(a, b uint16) int { return cmp.Compare(load[a], load[b]) })
				load[least] += r.Rate / portions
				sum += r.Rate / portions
			}
		}
	}
	return slices.Max(load) * float64(workers) / max(sum, 1e-9)
}
