package cacheroute

import (
	"cmp"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// hottest returns the n keys of the highest rates, in order of keys, scaled to
// add up to total requests per second.
func hottest(rates []router.KeyRate, n int, total float64) []router.KeyRate {
	top := slices.Clone(rates)
	slices.SortFunc(top, func(a, b router.KeyRate) int { return cmp.Compare(b.Rate, a.Rate) })
	top = top[:n]
	sum := 0.0
	for _, r := range top {
		sum += r.Rate
	}
	for i := range top {
		top[i].Rate *= total / sum
	}
	slices.SortFunc(top, func(a, b router.KeyRate) int { return cmp.Compare(a.Key, b.Key) })
	return top
}

// TestDrift repeats the study of the paper's Table 12: the 128 hottest keys of a
// paper-like population on 30 workers, rates on a random walk of sigma 0.3 per
// interval for 6 intervals. The paper's fresh plans have a cache churn of 0.945.
// Placements of one copy for each key are compared, and the strategy with its
// defaults with Algorithm 1 afresh.
func TestDrift(t *testing.T) {
	const workers, keys, intervals, runs = 30, 128, 6, 20
	paper := Paper{Workers: workers, QCap: 160, Slots: keys}
	planned := Planned{IDs: names(workers), QCap: 160, Near: DefaultNear, Bound: DefaultBound}
	single, carried := &walker{}, &walker{}
	single.plan = func(rates []router.KeyRate, _ int) (router.Table, error) {
		p, err := paper.Place(rates)
		return p.Table, err
	}
	carried.plan = func(rates []router.KeyRate, step int) (router.Table, error) {
		if step == 0 {
			return single.plan(rates, step)
		}
		p, err := planned.Place(rates, &carried.last)
		return p.Table, err
	}
	fresh, strategy := whole(t, workers, router.Options{"mode": "paper"}), whole(t, workers, nil)
	walkers := []*walker{single, carried, fresh, strategy}
	for run := range uint64(runs) {
		rates := hottest(population(128_824, 160, run), keys, 160)
		for i := range rates {
			rates[i].Tokens = 1_200
		}
		for step := range intervals + 1 {
			seed := 100*run + uint64(step)
			if step > 0 {
				rates = drift(rates, 0.3, seed-1)
			}
			for _, w := range walkers {
				w.step(t, rates, workers, step, seed)
			}
		}
	}
	for _, w := range walkers {
		for _, sum := range []*float64{&w.churn, &w.imbalance, &w.served, &w.stale} {
			*sum /= intervals * runs
		}
		t.Logf("churn %.3f, imbalance %.3f, of drawn requests %.3f, with the first plan kept %.3f", w.churn, w.imbalance, w.served, w.stale)
	}
	for _, pair := range [][2]*walker{{single, carried}, {fresh, strategy}} {
		anew, kept := pair[0], pair[1]
		if anew.churn < 0.915 || anew.churn > 0.975 {
			t.Errorf("fresh plans have a churn of %.3f, want 0.945 +- 0.03", anew.churn)
		}
		if kept.churn > 0.05 {
			t.Errorf("plans that carry on have a churn of %.3f, want at most 0.05", kept.churn)
		}
		if kept.imbalance > 1.03*anew.imbalance || kept.served > 1.03*anew.served {
			t.Errorf("imbalance %.3f, and %.3f of drawn requests, is more than 3 %% above that of fresh plans, %.3f and %.3f",
				kept.imbalance, kept.served, anew.imbalance, anew.served)
		}
		if kept.stale < kept.imbalance {
			t.Errorf("the first plan kept for good has an imbalance of %.3f, better than %.3f", kept.stale, kept.imbalance)
		}
	}
}
