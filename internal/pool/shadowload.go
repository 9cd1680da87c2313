package pool

import (
	"math"
	"time"

	"gatewayd/pkg/router"
)

const (
	// shadowHalfLife is how fast requests fade from the imbalance.
	shadowHalfLife = time.Minute
	// cacheBlocks bounds the blocks of one generation that are believed cached, at
	// all workers together.
	cacheBlocks = 1 << 18
)

// load is what a way to place requests does to the workers: how many each got
// lately, and what each has computed before. Its zero value is ready for use.
type load struct {
	began time.Time
	pools map[string]map[string]float64 // requests by pool and worker, in growing weights

	// Blocks at workers, in two generations: the young one becomes the old one
	// when it is full, so that what was used lately stays.
	young, old map[uint64]struct{}
}

// take places a request on a worker and returns how many of its prompt tokens
// have to be computed there.
func (l *load) take(now time.Time, pool, worker string, r *router.Request) (computed int) {
	if l.pools == nil {
		l.began, l.pools, l.young = now, map[string]map[string]float64{}, map[uint64]struct{}{}
	}
	if l.pools[pool] == nil {
		l.pools[pool] = map[string]float64{}
	}
	l.pools[pool][worker] += l.weight(now)
	at, cached := router.HashID(pool+"\x00"+worker), 0
	for i, block := range r.Blocks {
		key := router.Mix(block ^ at)
		if cached == i && l.has(key) {
			cached++
		}
		l.use(key)
	}
	return max(0, r.PromptTokens-cached*r.BlockTokens)
}

// weight grows as earlier requests fade, so that only the newest one has to be
// weighed. It begins at 1 again before it could overflow.
func (l *load) weight(now time.Time) float64 {
	halves := now.Sub(l.began).Seconds() / shadowHalfLife.Seconds()
	if halves < 500 {
		return math.Exp2(halves)
	}
	for _, workers := range l.pools {
		for id := range workers {
			if workers[id] *= math.Exp2(-halves); workers[id] < 1e-9 {
				delete(workers, id)
			}
		}
	}
	l.began = now
	return 1
}

func (l *load) has(key uint64) bool {
	_, young := l.young[key]
	_, old := l.old[key]
	return young || old
}

func (l *load) use(key uint64) {
	if l.young[key] = struct{}{}; len(l.young) >= cacheBlocks {
		l.old, l.young = l.young, map[uint64]struct{}{}
	}
}

// imbalance is the most over the mean of the requests per worker, as a mean over
// the pools by their requests; 0 before the first request.
func (l *load) imbalance(workers func(pool string) int) float64 {
	most, all := 0.0, 0.0
	for pool, by := range l.pools {
		top := 0.0
		for _, n := range by {
			top, all = max(top, n), all+n
		}
		most += top * float64(max(workers(pool), len(by)))
	}
	if all == 0 {
		return 0
	}
	return most / all
}
