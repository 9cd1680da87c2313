package survey

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/estimator"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/cacheroute"
)

// TestSignals holds cacheroute with its defaults to a hit of 0.779 at an imbalance of
// 1.05, on seeds that nothing was chosen on too, and tells what each signal of reuse is
// worth. Without any, workers are not divided.
func TestSignals(t *testing.T) {
	for _, by := range signal.All() {
		least, seeds := 0.779, uint64(3)
		switch {
		case testing.Short():
			seeds = 1
		case by == signal.Usage:
			seeds = 12
		}
		if by == signal.None {
			least = 0.71
		}
		for seed := uint64(1); seed <= seeds; seed++ {
			hit, imbalance, err := Owners{Signal: by}.Run(t.Context(), "cacheroute", seed)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, seed %d: hit %.4f, imbalance %.3f", by, seed, hit, imbalance)
			if hit < least || imbalance > 1.05 || by == signal.None && hit >= 0.779 {
				t.Errorf("%v, seed %d: hit %.4f, imbalance %.3f, want at least %v at most 1.05", by, seed, hit, imbalance, least)
			}
		}
	}
}

// TestEnds: with ends of prompts that nobody sends again, and without, what cacheroute
// measures is at least as good as any share of the caches that it can be told.
func TestEnds(t *testing.T) {
	for _, ends := range []float64{0, 0.3} {
		hit := func(chain string) float64 {
			hit, imbalance, err := Owners{Ends: ends}.Run(t.Context(), chain, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v with ends, %s: hit %.4f, imbalance %.3f", ends, chain, hit, imbalance)
			return hit
		}
		measured := hit("cacheroute")
		for _, told := range []string{"cacheroute:fill=0.7", "cacheroute:fill=0.85", "cacheroute:fill=1"} {
			if other := hit(told); other > measured {
				t.Errorf("%v with ends: %.4f with %s, %.4f as measured", ends, other, told, measured)
			}
		}
	}
}

// fleet is the caches and the live load of the workers of an owners workload,
// without a core.
type fleet struct {
	Owners
	caches []*slots
	recent []int
	live   []float64
	served []float64
	hits   int
}

func (f *fleet) serve(key uint64, w int) {
	if f.caches[w].use(key) {
		f.hits++
	}
	f.served[w]++
	f.live[w]++
	if f.recent = append(f.recent, w); len(f.recent) > f.Open {
		f.live[f.recent[0]]--
		f.recent = f.recent[1:]
	}
}

// ids are the workers' names.
func (o Owners) ids() (ids []string) {
	for w := range o.Workers {
		ids = append(ids, fmt.Sprintf("worker-%03d", w))
	}
	return ids
}

// rendezvous is the first of some workers in a key's rendezvous order.
func rendezvous(ids []string, key uint64, among []uint16) int {
	best := -1
	for _, w := range among {
		if best < 0 || router.Rendezvous(key, router.HashID(ids[w])) > router.Rendezvous(key, router.HashID(ids[best])) {
			best = int(w)
		}
	}
	return best
}

// bounded is the first worker of the key's rendezvous order within 1.25 times the
// mean live load.
func (f *fleet) bounded(key uint64) int {
	var under []uint16
	for w, load := range f.live {
		if load+1 <= max(16, 1.25*float64(len(f.recent)+1)/float64(f.Workers)) {
			under = append(under, uint16(w))
		}
	}
	return rendezvous(f.ids(), key, under)
}

// planned serves all arrivals and places keys once per interval of them, from
// estimated rates; cold serves those without a place.
func planned(seed uint64, interval int, place func(rates []router.KeyRate, before *router.Table) cacheroute.Placement, cold func(*fleet, uint64) int) (hit, imbalance float64) {
	o := Owners{}.withDefaults()
	f := &fleet{Owners: o, live: make([]float64, o.Workers), served: make([]float64, o.Workers)}
	for range o.Workers {
		f.caches = append(f.caches, newSlots(o.Slots))
	}
	draw, estimate, table := o.zipf(seed), estimator.NewRates(time.Duration(o.HalfLife)*time.Second, o.Owners), &router.Table{}
	for i := range o.Arrivals {
		key, now := draw(), int64(i)*int64(time.Second)
		estimate.Record(now, key, 1)
		if i%interval == 0 {
			var rates []router.KeyRate
			for _, r := range estimate.Freeze().At(now, 0) {
				rates = append(rates, router.KeyRate{Key: r.Key, Rate: r.PerSecond, Tokens: 1})
			}
			slices.SortFunc(rates, func(a, b router.KeyRate) int { return int(a.Key) - int(b.Key) })
			placed := place(rates, table)
			table = &placed.Table
		}
		w := cacheroute.Preferred(table, f.live, key, -1)
		if w < 0 {
			w = cold(f, key)
		}
		f.serve(key, w)
	}
	return float64(f.hits) / float64(o.Arrivals), cacheroute.Imbalance(f.served)
}

// carriedOn is a plan that carries on the one before, with room for all slots.
func carriedOn(rates []router.KeyRate) cacheroute.Planned {
	o, total := Owners{}.withDefaults(), 0.0
	for _, r := range rates {
		total += r.Rate
	}
	return cacheroute.Planned{
		IDs: o.ids(), QCap: 0.6 * total / float64(o.Workers), Budget: slices.Repeat([]float64{float64(o.Slots)}, o.Workers),
		Near: cacheroute.DefaultNear, Bound: cacheroute.DefaultBound,
	}
}

// TestPlacements holds that a plan which carries on keeps what fresh plans lose,
// and is even where hashing is not.
func TestPlacements(t *testing.T) {
	o := Owners{}.withDefaults()
	must := func(p cacheroute.Placement, err error) cacheroute.Placement {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 8))
		hashHit, hashImbalance := planned(seed, o.Arrivals, func([]router.KeyRate, *router.Table) cacheroute.Placement { return cacheroute.Placement{} },
			func(f *fleet, key uint64) int { return int(key % uint64(f.Workers)) })
		paperHit, paperImbalance := planned(seed, 500, func(rates []router.KeyRate, _ *router.Table) cacheroute.Placement {
			return must(cacheroute.Paper{Workers: o.Workers, QCap: 1, Slots: float64(o.Slots)}.Place(rates))
		}, func(f *fleet, _ uint64) int { // two choices
			a, b := rng.IntN(f.Workers), rng.IntN(f.Workers-1)
			if b >= a {
				b++
			}
			if f.live[b] < f.live[a] {
				return b
			}
			return a
		})
		hit, imbalance := planned(seed, 2000, func(rates []router.KeyRate, before *router.Table) cacheroute.Placement {
			return must(carriedOn(rates).Place(rates, before))
		}, (*fleet).bounded)
		t.Logf("seed %d: hit / imbalance: hash %.3f / %.3f, paper %.3f / %.3f, carried on %.3f / %.3f",
			seed, hashHit, hashImbalance, paperHit, paperImbalance, hit, imbalance)
		if hit < paperHit+0.08 || hit < hashHit-0.02 {
			t.Errorf("seed %d: carried on hits %.3f, paper %.3f, hash %.3f: the plan does not pay", seed, hit, paperHit, hashHit)
		}
		if imbalance > 1.1 {
			t.Errorf("seed %d: imbalance %.3f, want at most 1.1", seed, imbalance)
		}
	}
}

// TestDivided: a hash hits 0.77 at an imbalance of 2.
func TestDivided(t *testing.T) {
	for seed := range uint64(7) {
		var zones cacheroute.Zones
		hit, imbalance := planned(seed, 2000, func(rates []router.KeyRate, before *router.Table) cacheroute.Placement {
			p := carriedOn(rates)
			p.HalfLife, p.Everywhere, p.Cold = 4000, cacheroute.DefaultEverywhere, zones.Cold
			placed, z, err := p.Divide(rates, before, before)
			if err != nil {
				t.Fatal(err)
			}
			zones = z
			return placed
		}, func(f *fleet, key uint64) int {
			if len(zones.Cold) == 0 {
				return f.bounded(key)
			}
			return rendezvous(f.ids(), key, zones.Cold)
		})
		t.Logf("seed %d: hit %.4f, imbalance %.4f, cold workers %v", seed, hit, imbalance, zones.Cold)
		if hit < 0.779 || imbalance > 1.05 {
			t.Errorf("seed %d: hit %.4f, imbalance %.4f, want at least 0.779 at most 1.05", seed, hit, imbalance)
		}
	}
}
