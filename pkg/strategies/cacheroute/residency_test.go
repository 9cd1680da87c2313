package cacheroute

import (
	"container/list"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"gatewayd/pkg/estimator"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/rendezvous"
)

// The workload of VeloxQuant's benchmark, with prefixes that are resident where
// they were served: 2,000 owners of Zipf 1.1, 8 workers that each hold 40
// prefixes by least recent use, 40,000 arrivals.
const (
	owners, arrivals = 2_000, 40_000
	fleet, slotsEach = 8, 40
	window           = 800 // arrivals that count as live load
)

// cluster has the caches and the live load of the workers.
type cluster struct {
	order  [fleet]*list.List
	found  [fleet]map[uint64]*list.Element
	recent []int
	live   [fleet]float64
	served [fleet]float64
	hits   int
}

func newCluster() *cluster {
	c := &cluster{}
	for w := range fleet {
		c.order[w], c.found[w] = list.New(), map[uint64]*list.Element{}
	}
	return c
}

func (c *cluster) serve(key uint64, w int) {
	if e, ok := c.found[w][key]; ok {
		c.hits++
		c.order[w].MoveToFront(e)
	} else {
		c.found[w][key] = c.order[w].PushFront(key)
		if c.order[w].Len() > slotsEach {
			delete(c.found[w], c.order[w].Remove(c.order[w].Back()).(uint64))
		}
	}
	c.served[w]++
	c.live[w]++
	if c.recent = append(c.recent, w); len(c.recent) > window {
		c.live[c.recent[0]]--
		c.recent = c.recent[1:]
	}
}

// bounded is the first worker of the key's rendezvous order within 1.25 times
// the mean live load.
func (c *cluster) bounded(key uint64, hashes []uint64) int {
	best := -1
	for w := range fleet {
		if c.live[w]+1 <= max(16, 1.25*(float64(len(c.recent))+1)/fleet) &&
			(best < 0 || router.Rendezvous(key, hashes[w]) > router.Rendezvous(key, hashes[best])) {
			best = w
		}
	}
	return best
}

func zipf(rng *rand.Rand) (draw func() uint64) {
	sum, cumulative, names := 0.0, make([]float64, owners), rng.Perm(owners)
	for rank := range cumulative {
		sum += math.Pow(float64(rank+1), -1.1)
		cumulative[rank] = sum
	}
	return func() uint64 {
		return uint64(names[sort.SearchFloat64s(cumulative, sum*rng.Float64())])
	}
}

// run serves all arrivals and plans once per interval of them.
func run(seed uint64, interval int, place func([]router.KeyRate, *router.Table) Placement, cold func(*cluster, uint64) int) (hit, imbalance float64) {
	draw := zipf(rand.New(rand.NewPCG(seed, 7)))
	estimate := estimator.NewRates(4000*time.Second, owners) // one arrival is a second
	c, table := newCluster(), &router.Table{}
	for i := range arrivals {
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
		w := Preferred(table, c.live[:], key, -1)
		if w < 0 {
			w = cold(c, key)
		}
		c.serve(key, w)
	}
	return float64(c.hits) / arrivals, Imbalance(c.served[:])
}

func TestResidency(t *testing.T) {
	ids := names(fleet)
	hashes := rendezvous.Hashes(ids)
	slots := slices.Repeat([]float64{slotsEach}, fleet)
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 8))
		must := func(p Placement, err error) Placement {
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		hashHit, hashImbalance := run(seed, arrivals, func([]router.KeyRate, *router.Table) Placement { return Placement{} },
			func(_ *cluster, key uint64) int { return int(key % fleet) })
		paperHit, paperImbalance := run(seed, 500, func(rates []router.KeyRate, _ *router.Table) Placement {
			return must(Paper{Workers: fleet, QCap: 1, Slots: slotsEach}.Place(rates))
		}, func(c *cluster, _ uint64) int { // two choices
			a, b := rng.IntN(fleet), rng.IntN(fleet-1)
			if b >= a {
				b++
			}
			if c.live[b] < c.live[a] {
				return b
			}
			return a
		})
		hit, imbalance := run(seed, 2000, func(rates []router.KeyRate, previous *router.Table) Placement {
			total := 0.0
			for _, r := range rates {
				total += r.Rate
			}
			return must(Planned{IDs: ids, QCap: 0.6 * total / fleet, Budget: slots, Near: DefaultNear, Bound: DefaultBound}.Place(rates, previous))
		}, func(c *cluster, key uint64) int { return c.bounded(key, hashes) })
		t.Logf("seed %d: hit / imbalance: hash %.3f / %.3f, paper %.3f / %.3f, planned %.3f / %.3f",
			seed, hashHit, hashImbalance, paperHit, paperImbalance, hit, imbalance)
		if hit < paperHit+0.08 || hit < hashHit-0.02 {
			t.Errorf("planned hits %.3f, paper %.3f, hash %.3f: the plan does not pay", hit, paperHit, hashHit)
		}
		if imbalance > 1.1 {
			t.Errorf("planned imbalance %.3f, want at most 1.1", imbalance)
		}
	}
}
