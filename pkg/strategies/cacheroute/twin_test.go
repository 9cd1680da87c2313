package cacheroute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"testing"

	"gatewayd/pkg/estimator"
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

// TestPlaceLeavesRatesAlone holds that rates are read and not changed.
func TestPlaceLeavesRatesAlone(t *testing.T) {
	rates := drift(population(500, 100, 1), 0.3, 1)
	given := slices.Clone(rates)
	if _, err := (Paper{Workers: 5, QCap: 3, Slots: 40}).Place(rates); err != nil {
		t.Fatal(err)
	}
	if _, err := (Planned{IDs: names(5), QCap: 3, Near: DefaultNear, Bound: DefaultBound}).Place(rates, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rates, given) {
		t.Error("the rates were changed")
	}
}

// TestByRate sorts what a radix sort may get wrong: rates that differ in their
// last bits, that are equal, 0, tiny and huge.
func TestByRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for round := range 300 {
		rates := make([]router.KeyRate, rng.IntN(300))
		for i := range rates {
			r := 1 + rng.Float64()*1e-9
			switch round % 4 {
			case 1:
				r = math.Exp(40 * rng.NormFloat64())
			case 2:
				r = float64(rng.IntN(4))
			case 3:
				r = []float64{0, math.SmallestNonzeroFloat64, 1e-300, 1, math.Nextafter(1, 2), 1e15}[rng.IntN(6)]
			}
			rates[i] = router.KeyRate{Key: uint64(i), Rate: r}
		}
		want := descending(rates)
		got := byRate(rates, nil)
		if len(got) != len(want) {
			t.Fatalf("round %d: %d rates of %d", round, len(got), len(want))
		}
		for i, r := range got {
			if rates[r.position] != want[i] || r.rate() != want[i].Rate {
				t.Fatalf("round %d: place %d has %v, want %v", round, i, rates[r.position], want[i])
			}
		}
	}
}

// TestConformanceEndToEnd: the last case of the estimator, whose counts are
// planned with.
func TestConformanceEndToEnd(t *testing.T) {
	s, err := estimator.NewShares(5, estimator.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		s.Record(1)
	}
	s.Record(2)
	var rates []router.KeyRate
	for _, c := range s.Counts() {
		rates = append(rates, router.KeyRate{Key: c.Key, Rate: c.Count})
	}
	placed, err := Paper{Workers: 2, QCap: 100, Slots: 1}.Place(rates)
	if err != nil {
		t.Fatal(err)
	}
	if Homes(&placed.Table, 1) == nil {
		t.Errorf("key 1 is not admitted: %+v", placed)
	}
}
