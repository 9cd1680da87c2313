// Package lpt schedules jobs in list order on the least loaded of n workers.
//
// Given jobs by decreasing size it is the longest-processing-time rule of
// Graham (1969), extended to jobs that are split into equal shares which must
// land on distinct workers, as Algorithm 1 of CacheRoute needs it (Graham's
// bound does not hold for split jobs). A tournament tree of plain values keeps it
// free of allocation and of interface calls, and nearly free of branches that a
// processor cannot foresee.
package lpt

import (
	"math"
	"math/bits"
	"slices"
)

// Tree is a tournament among workers 0..n-1: the least loaded wins, the lower
// number among equals. It is not safe for concurrent use.
type Tree struct {
	n, leaves int
	// Node 1 is the final, the nodes 2i and 2i+1 play for node i, and worker w
	// starts at node leaves+w. A node holds the load and the number of who won it;
	// the load as bits, which for numbers of at least 0 are ordered as the numbers.
	load   []uint64
	winner []uint16
	taken  []float64
}

// New returns a tree of the workers whose initial loads are given, at most
// 65,536 of them, each at least 0. It does not keep the slice.
func New(load []float64) *Tree {
	t := &Tree{n: len(load), leaves: 1 << bits.Len(uint(max(len(load), 1)-1))}
	t.load, t.winner = make([]uint64, 2*t.leaves), make([]uint16, 2*t.leaves)
	for i := range t.leaves {
		l := math.Inf(1)
		if i < t.n {
			l = load[i]
		}
		t.load[t.leaves+i], t.winner[t.leaves+i] = math.Float64bits(l), uint16(i)
	}
	for i := t.leaves - 1; i > 0; i-- {
		winner := 2 * i
		if t.load[winner+1] < t.load[winner] {
			winner++
		}
		t.load[i], t.winner[i] = t.load[winner], t.winner[winner]
	}
	return t
}

// Least returns the number of the least loaded worker, the lower one among
// equals.
func (t *Tree) Least() int { return int(t.winner[1]) }

// Load returns the load of a worker.
func (t *Tree) Load(w int) float64 { return math.Float64frombits(t.load[t.leaves+w]) }

// Set changes the load of a worker, to a value of at least 0; +Inf takes it out.
func (t *Tree) Set(w int, load float64) {
	i, best, winner := t.leaves+w, math.Float64bits(load), uint16(w)
	t.load[i] = best
	for i > 1 {
		rival, odd := i^1, uint64(i&1)
		// The rival of an odd node is to its left and so has lower numbers: it
		// wins ties. Written so that it compiles to no branch.
		theirs, number := t.load[rival], t.winner[rival]
		if theirs < best+odd {
			best, winner = theirs, number
		}
		i >>= 1
		t.load[i], t.winner[i] = best, winner
	}
}

// Place adds share to each of the k least loaded workers (all of them if there
// are fewer than k) and appends their numbers to dst in ascending order.
func (t *Tree) Place(dst []uint16, k int, share float64) []uint16 {
	if k <= 0 || t.n == 0 {
		return dst
	}
	if k == 1 {
		w := t.Least()
		t.Set(w, t.Load(w)+share)
		return append(dst, uint16(w))
	}
	first := len(dst)
	t.taken = t.taken[:0]
	for range min(k, t.n) {
		w := t.Least()
		t.taken = append(t.taken, t.Load(w)+share)
		dst = append(dst, uint16(w))
		t.Set(w, math.Inf(1))
	}
	for i, w := range dst[first:] {
		t.Set(int(w), t.taken[i])
	}
	slices.Sort(dst[first:])
	return dst
}

// Loads returns the load of each worker, by number.
func (t *Tree) Loads() []float64 {
	load := make([]float64, t.n)
	for w := range load {
		load[w] = t.Load(w)
	}
	return load
}
