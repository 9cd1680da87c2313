package cacheroute

import (
	"math"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// VeloxQuant's benchmark has 2,000 owners, and 8 workers that each hold 40 prefixes.
const (
	owners           = 2_000
	fleet, slotsEach = 8, 40
)

// publishedTraffic is the arrivals with the benchmark's defaults: owners by Zipf 1.1,
// in a shuffled order, 40,000 of them, seed 42. qcap is such that every owner has
// one copy.
func publishedTraffic() (arrivals []int, qcap float64) {
	rng := newMersenne(42)
	order, rates := make([]int, owners), make([]float64, owners)
	for i := range order {
		order[i] = i
	}
	rng.shuffle(order)
	for rank, owner := range order {
		rates[owner] = 1 / math.Pow(float64(rank+1), 1.1)
	}
	return rng.choices(rates, 40_000), slices.Max(rates)*40_000 + 1
}

// leastRecent is a set of owners bounded by dropping the one seen longest ago.
type leastRecent struct {
	size int
	seen map[int]int
}

// touch reports whether the owner was there, and who made room if it was not.
func (l *leastRecent) touch(owner, at int) (hit bool, dropped int) {
	dropped = -1
	if _, hit = l.seen[owner]; !hit && len(l.seen) == l.size {
		for o, t := range l.seen {
			if dropped < 0 || t < l.seen[dropped] {
				dropped = o
			}
		}
		delete(l.seen, dropped)
	}
	l.seen[owner] = at
	return hit, dropped
}

// TestPublished repeats VeloxQuant's published benchmark and finds its rows to
// the hit. It flatters the plan: an owner that was admitted once and seen since
// counts as a hit for ever, wherever its plan has put it, and the imbalance is
// that of the last plan. The owners of package survey are the same traffic with
// prefixes that are where they were served.
func TestPublished(t *testing.T) {
	stream, qcap := publishedTraffic()
	for _, row := range []struct {
		name      string
		hits      int
		imbalance float64
		run       func() (hits int, load []float64)
	}{
		{"lru", 30_712, 1.981, func() (int, []float64) { return publishedPool(stream) }},
		{"sticky_hash", 30_625, 2.0898, func() (int, []float64) { return publishedSticky(stream) }},
		{"cacheroute", 32_329, 1.00015, func() (int, []float64) { return publishedPlan(t, stream, qcap) }},
	} {
		hits, load := row.run()
		if got := Imbalance(load); hits != row.hits || math.Abs(got-row.imbalance) > 1e-4*row.imbalance {
			t.Errorf("%s: %d hits, imbalance %.5f, want %d and %.5f", row.name, hits, got, row.hits, row.imbalance)
		}
	}
}

// publishedPool is one pool for all shards; an owner that is new to it takes the
// shard of the one that made room.
func publishedPool(stream []int) (hits int, load []float64) {
	pool := leastRecent{fleet * slotsEach, map[int]int{}}
	shard := map[int]int{}
	next := 0
	load = make([]float64, fleet)
	for at, owner := range stream {
		hit, dropped := pool.touch(owner, at)
		switch {
		case hit:
			hits++
		case dropped >= 0:
			shard[owner] = shard[dropped]
		default:
			shard[owner], next = next, (next+1)%fleet
		}
		load[shard[owner]]++
	}
	return hits, load
}

// publishedSticky pins an owner to the shard of its number.
func publishedSticky(stream []int) (hits int, load []float64) {
	load = make([]float64, fleet)
	var pools [fleet]leastRecent
	for i := range pools {
		pools[i] = leastRecent{slotsEach, map[int]int{}}
	}
	for at, owner := range stream {
		if hit, _ := pools[owner%fleet].touch(owner, at); hit {
			hits++
		}
		load[owner%fleet]++
	}
	return hits, load
}

// publishedPlan plans afresh every 500 arrivals from counts that decay only at an
// owner's own arrivals; owners that are not admitted share eight places.
func publishedPlan(t *testing.T, stream []int, qcap float64) (hits int, load []float64) {
	paper := Paper{Workers: fleet, QCap: qcap, Slots: slotsEach, Charge: Uncapped}
	decay := math.Pow(0.5, 1/250.0)
	var rates []router.KeyRate // in the order of first arrivals, which breaks ties
	place := map[int]int{}
	seen, cold := map[int]bool{}, leastRecent{fleet, map[int]int{}}
	var placed Placement
	for at, owner := range stream {
		i, known := place[owner]
		if !known {
			i = len(rates)
			place[owner], rates = i, append(rates, router.KeyRate{Key: uint64(owner)})
		}
		rates[i].Rate = rates[i].Rate*decay + 1
		if at%500 == 0 {
			var err error
			if placed, err = paper.Place(rates); err != nil {
				t.Fatal(err)
			}
		}
		if Homes(&placed.Table, uint64(owner)) == nil {
			if hit, _ := cold.touch(owner, at); hit {
				hits++
			}
			continue
		}
		if _, warm := cold.seen[owner]; warm || seen[owner] {
			hits++
		}
		seen[owner] = true
		delete(cold.seen, owner)
	}
	return hits, placed.Load
}
