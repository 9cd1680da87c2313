package cacheroute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"testing"

	"gatewayd/pkg/router"
)

// The twins below do what Paper and Planned do in the most literal way: maps,
// whole scans, no heap, no radix sort, no packed arrays.

type twin struct {
	homes map[uint64][]uint16
	load  []float64
}

// fewest returns the allowed worker with the least load, -1 if none is allowed.
func (t *twin) fewest(allowed func(w uint16) bool) int {
	best := -1
	for w := range t.load {
		if allowed(uint16(w)) && (best < 0 || t.load[w] < t.load[best]) {
			best = w
		}
	}
	return best
}

func descending(rates []router.KeyRate) []router.KeyRate {
	sorted := slices.Clone(rates)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Rate > sorted[j].Rate })
	return slices.DeleteFunc(sorted, func(r router.KeyRate) bool { return r.Rate <= 0 })
}

func paperTwin(p Paper, rates []router.KeyRate) twin {
	t := twin{homes: map[uint64][]uint16{}, load: make([]float64, p.Workers)}
	var admitted []router.KeyRate
	used, cold := 0.0, 0.0
	for _, r := range descending(rates) {
		k := math.Max(1, math.Ceil(r.Rate/p.QCap))
		if p.Charge == Capped && k > float64(p.Workers) {
			k = float64(p.Workers)
		}
		if used+k <= float64(p.Workers)*p.Slots {
			used += k
			admitted = append(admitted, r)
		} else {
			cold += r.Rate
		}
	}
	for w := range t.load {
		t.load[w] = (cold + p.Unkeyed) / float64(p.Workers)
	}
	for _, r := range admitted {
		k := min(p.Workers, int(math.Max(1, math.Ceil(r.Rate/p.QCap))))
		for range k {
			w := t.fewest(func(w uint16) bool { return !slices.Contains(t.homes[r.Key], w) })
			t.homes[r.Key] = append(t.homes[r.Key], uint16(w))
		}
		for _, w := range t.homes[r.Key] {
			t.load[w] += r.Rate / float64(k)
		}
	}
	return t
}

func (t *twin) compare(tt *testing.T, what string, got Placement) {
	tt.Helper()
	homes := map[uint64][]uint16{}
	for i, key := range got.Table.Keys {
		homes[key] = got.Table.Of(i)
	}
	for key := range t.homes {
		slices.Sort(t.homes[key])
	}
	if !reflect.DeepEqual(homes, t.homes) {
		tt.Fatalf("%s:\n got %v\nwant %v", what, homes, t.homes)
	}
	for w := range t.load {
		if math.Abs(got.Load[w]-t.load[w]) > 1e-6 {
			tt.Fatalf("%s: loads %v, want %v", what, got.Load, t.load)
		}
	}
}

func TestPaperLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 500 {
		p := Paper{
			Workers: 1 + rng.IntN(8), QCap: 1 + 20*rng.Float64(), Slots: 0.3 + 6*rng.Float64(),
			Charge: Charge(rng.IntN(2)), Unkeyed: float64(rng.IntN(3)),
		}
		rates := make([]router.KeyRate, rng.IntN(40))
		for i, key := range rng.Perm(len(rates)) {
			rates[i] = router.KeyRate{Key: uint64(key), Rate: float64(rng.IntN(30)) * rng.Float64()}
			if rng.IntN(4) == 0 {
				rates[i].Rate = float64(rng.IntN(4)) // equal ones, also 0
			}
		}
		got, err := p.Place(rates)
		if err != nil {
			t.Fatal(err)
		}
		want := paperTwin(p, rates)
		want.compare(t, fmt.Sprintf("round %d: %+v %v", round, p, rates), got)
	}
}
