package rendezvous

import (
	"cmp"
	"math/bits"
	"slices"

	"gatewayd/pkg/router"
)

// probes is the number of points from which a key looks.
const probes = 16

// ring has the workers at the points of their hashes. The point behind another
// one is found by its place in an array of parts of the ring, four to a worker.
type ring struct {
	points []point
	starts []uint16 // of each part, the first point in it or behind it
	shift  int      // of a hash to its part
}

type point struct {
	at     uint64
	worker uint16
}

func newRing(hashes []uint64) *ring {
	r := &ring{points: make([]point, len(hashes))}
	for w, hash := range hashes {
		r.points[w] = point{hash, uint16(w)}
	}
	slices.SortFunc(r.points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.worker, b.worker)) })
	r.shift = 64 - bits.Len(uint(4*len(hashes)-1))
	r.starts = make([]uint16, 1<<(64-r.shift))
	at := 0
	for i := range r.starts {
		for at < len(r.points) && r.points[at].at < uint64(i)<<r.shift {
			at++
		}
		r.starts[i] = uint16(at)
	}
	return r
}

// probe is one look of a key: the nearest worker behind a point, and how far.
func (r *ring) probe(from uint64) (distance uint64, worker int) {
	at := int(r.starts[from>>r.shift])
	for at < len(r.points) && r.points[at].at < from {
		at++
	}
	if at == len(r.points) {
		at = 0
	}
	return r.points[at].at - from, int(r.points[at].worker)
}

func (r *ring) first(key uint64) int {
	at := router.Mix(key)
	step := router.Mix(at) | 1
	nearest, first := r.probe(at)
	for range probes - 1 {
		at += step
		if d, w := r.probe(at); d < nearest {
			nearest, first = d, w
		}
	}
	return first
}

func (r *ring) firstOf(key uint64, may func(w int) bool) int {
	at := router.Mix(key)
	step := router.Mix(at) | 1
	first, nearest := -1, uint64(0)
	for range probes {
		if d, w := r.probe(at); (first < 0 || d < nearest) && may(w) {
			nearest, first = d, w
		}
		at += step
	}
	return first
}
