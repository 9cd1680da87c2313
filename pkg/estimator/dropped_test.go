package estimator

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestMergeAfterDropping adds up two gateways that both had to drop keys: a sum is
// never too high, and too low by at most both floors together.
func TestMergeAfterDropping(t *testing.T) {
	const limit, keys = 200, 5_000
	for _, skew := range []float64{0.8, 1.1, 1.4} {
		rng := rand.New(rand.NewPCG(6, uint64(10*skew)))
		draw := zipf(rng, keys, skew)
		a, b, all := NewRates(time.Minute, limit), NewRates(time.Minute, limit), NewRates(time.Minute, keys)
		now := int64(0)
		for range 50_000 {
			now += rng.Int64N(second / 50)
			key, at := draw(), a
			if rng.IntN(2) == 0 {
				at = b
			}
			at.Record(now, key, 100)
			all.Record(now, key, 100)
		}
		merged := map[uint64]float64{}
		for _, r := range Merge(a.Snapshot(now, 0), b.Snapshot(now, 0)) {
			merged[r.Key] = r.PerSecond
		}
		floors, total, worst, both := a.Floor(now)+b.Floor(now), 0.0, 0.0, 0
		for _, want := range all.Snapshot(now, 0) {
			total += want.PerSecond
			worst = max(worst, want.PerSecond-merged[want.Key])
			if got := merged[want.Key]; got > want.PerSecond*(1+1e-9) || want.PerSecond-got > floors*(1+1e-6) {
				t.Errorf("skew %v: key %d: rate %v, true %v, floors %v", skew, want.Key, got, want.PerSecond, floors)
			}
			if a.Rate(now, want.Key) > 0 && b.Rate(now, want.Key) > 0 {
				both++
			}
		}
		if floors == 0 || floors > total/limit*(1+1e-6) || both == 0 || both == len(merged) {
			t.Errorf("skew %v: floors %v of a total of %v, %d of %d keys tracked by both: nothing is tried", skew, floors, total, both, len(merged))
		}
		t.Logf("skew %v: total %.1f req/s, floors %.4f, worst error %.4f; %d of %d keys tracked by both", skew, total, floors, worst, both, len(merged))
	}
}

// TestSharesAfterDropping measures what dropping keys costs by the global clock. A
// count is never too high. Dropped is the least of limit counts, so each time costs
// a key at most a limit-th of the sum of all; where keys are drawn, what it was
// dropped with before has decayed and its error stays below one such part.
func TestSharesAfterDropping(t *testing.T) {
	const halfLife, limit, keys = 4000.0, 200, 5_000
	for _, skew := range []float64{0.8, 1.1, 1.4} {
		rng := rand.New(rand.NewPCG(5, uint64(10*skew)))
		draw := zipf(rng, keys, skew)
		s, _ := NewShares(halfLife, limit)
		all, _ := NewShares(halfLife, keys)
		for range 50_000 {
			key := draw()
			s.Record(key)
			all.Record(key)
		}
		truth := all.Counts()
		total, worst, hot, exact := 0.0, 0.0, 0, 0
		for _, want := range truth {
			total += want.Count
		}
		for _, want := range truth {
			got := s.Count(want.Key)
			if got > want.Count*(1+1e-9) {
				t.Errorf("skew %v: key %d counts %v, in truth %v", skew, want.Key, got, want.Count)
			}
			worst = max(worst, (want.Count-got)/(total/limit))
			if want.Count > total/limit {
				hot++
				if got > 0.999*want.Count {
					exact++
				}
			}
		}
		if worst > 1 {
			t.Errorf("skew %v: a count is too low by %.3f of the total's limit-th", skew, worst)
		}
		t.Logf("skew %v: worst error %.3f of the total's limit-th; of %d keys above it %d within 0.1 %%", skew, worst, hot, exact)
	}
}
