package workload

import (
	"math"
	"reflect"
	"testing"
)

// TestPopulation has the published statistics.
func TestPopulation(t *testing.T) {
	keys := Population(Keys, 1)
	s := Describe(keys)
	t.Logf("%+v", s)
	if math.Abs(s.Gini-0.756) > 0.005 || math.Abs(s.Top4-0.47) > 0.02 || s.Largest > 0.005 {
		t.Errorf("%+v, want a Gini of 0.756, 0.47 on the top 4 %% and a largest key of about 0.003", s)
	}
	if !reflect.DeepEqual(keys[:10], Population(Keys, 1)[:10]) || keys[0] == Population(Keys, 2)[0] {
		t.Error("a seed does not make its population, or another makes the same")
	}
}

func TestWhales(t *testing.T) {
	keys := WithWhales(Top(Population(1000, 1), 50), 2, 0.15)
	seen, sum := map[uint64]bool{}, 0.0
	for _, k := range keys {
		seen[k.Session], sum = true, sum+k.Share
	}
	if len(seen) != 52 || seen[0] || math.Abs(sum-1) > 1e-12 || math.Abs(keys[1].Share-0.075) > 1e-12 {
		t.Errorf("%d keys with a sum of %v, whales of %v", len(seen), sum, keys[1].Share)
	}
	if w := WithWhales(keys, 0, 0.5); len(w) != len(keys) {
		t.Error("no whales changed the keys")
	}
}

// TestGaps have mean 1 and the coefficient of variation that was asked for.
func TestGaps(t *testing.T) {
	for _, cv := range []float64{1, 1.9, 0.5} {
		sum, squares := 0.0, 0.0
		const n = 200_000
		for _, g := range gaps(n, cv, 3) {
			sum, squares = sum+g, squares+g*g
		}
		mean := sum / n
		got := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(mean-1) > 0.02 || math.Abs(got-cv) > 0.03*cv {
			t.Errorf("cv %v: mean %v, cv %v", cv, mean, got)
		}
	}
}

// TestTraffic shares the template between all, the context within a key, and
// nothing else; another rate changes times only.
func TestTraffic(t *testing.T) {
	d := Traffic{Keys: Population(5, 1), Requests: 400, CV: 1, Prompt: Prompt{2, 3, 1}, Output: 4, Seed: 1}
	s := d.Draw()
	slow, fast := s.At(1), s.At(10)
	who, seen := map[uint64]uint64{}, map[uint64]bool{}
	counts := map[uint64]int{}
	for i, r := range slow.Requests {
		counts[r.Session]++
		if len(r.Blocks)*BlockTokens != r.Input || r.Blocks[1] != slow.Requests[0].Blocks[1] {
			t.Fatalf("row %d has the blocks %v for %d tokens", i, r.Blocks, r.Input)
		}
		if was, ok := who[r.Blocks[4]]; ok && was != r.Session {
			t.Fatalf("keys %d and %d share a context", was, r.Session)
		}
		who[r.Blocks[4]] = r.Session
		if seen[r.Blocks[5]] {
			t.Fatalf("row %d repeats a turn", i)
		}
		seen[r.Blocks[5]] = true
		if d := r.At.Seconds() - 10*fast.Requests[i].At.Seconds(); math.Abs(d) > 1e-6 {
			t.Fatalf("row %d is sent at %v and %v", i, r.At, fast.Requests[i].At)
		}
	}
	if len(who) != 5 {
		t.Errorf("%d contexts, want 5", len(who))
	}
	for _, k := range d.Keys {
		if want := 400 * k.Share; math.Abs(float64(counts[k.Session])-want) > 4*math.Sqrt(want)+2 {
			t.Errorf("key %d of share %.3f came %d times", k.Session, k.Share, counts[k.Session])
		}
	}
}
