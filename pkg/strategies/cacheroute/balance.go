package cacheroute

import (
	"cmp"
	"slices"
	"sort"
)

// tries bounds the keys that are looked at for one move, each way from the best
// size: further ones would not narrow the gap by much.
const tries = 64

// loose is how many times as far from the mean as the bound workers may be that
// do not set the imbalance: each move costs a cache.
const loose = 2.5

// balance moves the single key that best halves the gap between the hottest
// worker and the coldest one that can take it, until the hottest is within the
// bound or no move helps it. Then it does the same for every other worker that
// is far above the mean, past those that no move helps, and for those far below
// it, as one that has just joined. Each move lowers the sum of squared loads, so
// this ends.
func (d *draft) balance() {
	bound, high, low := d.limits()
	if slices.Max(d.load) <= bound && slices.Min(d.load) >= low {
		return
	}
	b := newBalancer(d)
	for range len(d.members) {
		hottest := slices.Index(d.load, slices.Max(d.load))
		if d.load[hottest] <= bound || !b.relieve(hottest) {
			break
		}
	}
	b.each(func(w int) float64 { return d.load[w] - high }, b.relieve)
	b.each(func(w int) float64 { return low - d.load[w] }, b.fill)
}

// limits are the loads by single keys above which the hottest worker and the others
// are relieved, and below which others are filled. Where some requests go to the
// least loaded worker, they make up for single keys up to the mean of all load, so
// that of these only what comes near it has to move: half the margin is left to
// chance and to drift until the next plan.
func (d *draft) limits() (bound, high, low float64) {
	margin, evening := d.Bound-1, d.evening/d.power
	level := d.mean + evening
	bound = max((1+margin)*d.mean, (1-margin/2)*level)
	high = max((1+loose*margin)*d.mean, level)
	low = (1-loose*margin)*level - evening
	return bound - d.cold, high - d.cold, low - d.cold
}

type balancer struct {
	*draft
	on     [][]int32 // the keys on each worker; by ascending share once sorted
	sorted []bool
	order  []int // scratch
}

// newBalancer lists the keys on each worker. Coldest first they are sorted
// already, but for those with copies.
func newBalancer(d *draft) *balancer {
	b := &balancer{draft: d, on: make([][]int32, len(d.load)), sorted: make([]bool, len(d.load))}
	sizes, all := make([]int, len(d.load)), make([]int32, len(d.members))
	for w := range b.sorted {
		b.sorted[w] = true
	}
	for i := range d.keys {
		k := &d.keys[i]
		for _, w := range d.of(k) {
			sizes[w]++
			b.sorted[w] = b.sorted[w] && k.want == 1
		}
	}
	for w, n := range sizes {
		b.on[w], all = all[:0:n], all[n:]
	}
	for i := len(d.keys) - 1; i >= 0; i-- {
		for _, w := range d.of(&d.keys[i]) {
			b.on[w] = append(b.on[w], int32(i))
		}
	}
	return b
}

// each makes moves for the worker with the highest excess, as long as there is
// one above 0 that moves help, and at most as many as there are homes.
func (b *balancer) each(excess func(w int) float64, help func(w int) bool) {
	stuck := make([]bool, len(b.load))
	for range len(b.members) {
		worst, most := -1, 0.0
		for w := range b.load {
			if e := excess(w); e > most && !stuck[w] {
				worst, most = w, e
			}
		}
		if worst < 0 {
			return
		}
		stuck[worst] = !help(worst)
	}
}

// relieve moves one key from the hot worker to the coldest that it helps.
func (b *balancer) relieve(hot int) bool {
	if b.narrow(hot, slices.Index(b.load, slices.Min(b.load))) {
		return true
	}
	return slices.ContainsFunc(b.byLoad(1), func(cold int) bool { return b.narrow(hot, cold) })
}

// fill moves one key to the cold worker from the hottest that it helps.
func (b *balancer) fill(cold int) bool {
	if b.narrow(slices.Index(b.load, slices.Max(b.load)), cold) {
		return true
	}
	return slices.ContainsFunc(b.byLoad(-1), func(hot int) bool { return b.narrow(hot, cold) })
}

// byLoad returns the workers by ascending load, or descending if sign is -1; the
// lower number first among equals.
func (b *balancer) byLoad(sign float64) []int {
	b.order = b.order[:0]
	for w := range b.load {
		b.order = append(b.order, w)
	}
	slices.SortFunc(b.order, func(x, y int) int {
		return cmp.Or(cmp.Compare(sign*b.load[x], sign*b.load[y]), cmp.Compare(x, y))
	})
	return b.order
}

// narrow moves the key whose share is nearest to what closes the gap between two
// workers: half of it if they are equally fast. A share that brings the cold one
// to where the hot one was would not lower the higher load.
func (b *balancer) narrow(hot, cold int) bool {
	if b.load[cold] >= b.load[hot] {
		return false
	}
	b.sort(hot)
	gap, on := b.load[hot]-b.load[cold], b.on[hot]
	best, most := gap/(b.slow[hot]+b.slow[cold]), gap/b.slow[cold]
	up := sort.Search(len(on), func(j int) bool { return b.share(on[j]) >= best })
	down := up - 1
	for range 2 * tries {
		usable := up < len(on) && b.share(on[up]) < most
		var j int
		switch {
		case !usable && down < 0:
			return false
		case !usable, down >= 0 && best-b.share(on[down]) <= b.share(on[up])-best:
			j, down = down, down-1
		default:
			j, up = up, up+1
		}
		if k := &b.keys[on[j]]; k.share() > 0 && b.fits(k, cold) {
			b.move(hot, j, cold)
			return true
		}
	}
	return false
}

// move takes the j-th key of the hot worker to the cold one.
func (b *balancer) move(hot, j, cold int) {
	i := b.on[hot][j]
	b.on[hot] = slices.Delete(b.on[hot], j, j+1)
	b.sort(cold)
	at, _ := slices.BinarySearchFunc(b.on[cold], i, b.compare)
	b.on[cold] = slices.Insert(b.on[cold], at, i)
	k := &b.keys[i]
	homes := b.of(k)
	homes[slices.Index(homes, uint16(hot))] = uint16(cold)
	b.load[hot] -= k.share() * b.slow[hot]
	b.load[cold] += k.share() * b.slow[cold]
	b.room[hot] += k.size
	b.room[cold] -= k.size
}

func (b *balancer) share(i int32) float64 { return b.keys[i].share() }

func (b *balancer) sort(w int) {
	if !b.sorted[w] {
		slices.SortFunc(b.on[w], b.compare)
	}
	b.sorted[w] = true
}

// compare orders keys by share, of equal ones the one of the lower rate first.
func (b *balancer) compare(x, y int32) int {
	return cmp.Or(cmp.Compare(b.share(x), b.share(y)), cmp.Compare(y, x))
}
