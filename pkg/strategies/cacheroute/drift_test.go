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

// expected is the imbalance of single homes under other rates than they were
// planned for.
func expected(t *router.Table, rates []router.KeyRate, workers int) float64 {
	load := make([]float64, workers)
	for _, r := range rates {
		homes := Homes(t, r.Key)
		for _, w := range homes {
			load[w] += r.Rate / float64(len(homes))
		}
	}
	return Imbalance(load)
}

// TestDrift repeats the study of the paper's Table 12: the 128 hottest keys of a
// paper-like population on 30 workers, rates on a random walk of sigma 0.3 per
// interval for 6 intervals. The paper's fresh plans have a cache churn of 0.945.
func TestDrift(t *testing.T) {
	const workers, keys, intervals, runs = 30, 128, 6, 20
	paper := Paper{Workers: workers, QCap: 160, Slots: keys}
	planned := Planned{IDs: names(workers), QCap: 160, Near: DefaultNear, Bound: DefaultBound}
	var freshChurn, keptChurn, fresh, kept, stale float64
	for run := range uint64(runs) {
		rates := hottest(population(128_824, 160, run), keys, 160)
		p, err := paper.Place(rates)
		if err != nil {
			t.Fatal(err)
		}
		first, k := p, p
		for step := range uint64(intervals) {
			rates = drift(rates, 0.3, 100*run+step)
			next, err := paper.Place(rates)
			if err != nil {
				t.Fatal(err)
			}
			_, churn := Churn(&p.Table, &next.Table)
			freshChurn, p = freshChurn+churn, next
			carried, err := planned.Place(rates, &k.Table)
			if err != nil {
				t.Fatal(err)
			}
			_, churn = Churn(&k.Table, &carried.Table)
			keptChurn, k = keptChurn+churn, carried
			fresh, kept = fresh+p.Imbalance(), kept+k.Imbalance()
			stale += expected(&first.Table, rates, workers)
		}
	}
	for _, sum := range []*float64{&freshChurn, &keptChurn, &fresh, &kept, &stale} {
		*sum /= intervals * runs
	}
	t.Logf("churn: fresh %.3f, planned %.3f; imbalance: fresh %.3f, planned %.3f, stale %.3f", freshChurn, keptChurn, fresh, kept, stale)
	if freshChurn < 0.915 || freshChurn > 0.975 {
		t.Errorf("fresh plans have a churn of %.3f, want 0.945 +- 0.03", freshChurn)
	}
	if keptChurn > 0.05 {
		t.Errorf("planned placements have a churn of %.3f, want at most 0.05", keptChurn)
	}
	if kept > 1.03*fresh {
		t.Errorf("planned imbalance %.3f is more than 3 %% above the fresh one, %.3f", kept, fresh)
	}
	if stale < kept {
		t.Errorf("the first plan kept for good has an imbalance of %.3f, better than %.3f", stale, kept)
	}
}
