package weighted

import (
	"slices"

	"gatewayd/pkg/router"
)

// recency remembers in which order workers were last sent something. It is
// bounded by the workers that are up.
type recency struct {
	clock uint64
	last  map[string]uint64
}

func newRecency() *recency { return &recency{last: map[string]uint64{}} }

func (r *recency) touch(worker string) {
	r.clock++
	r.last[worker] = r.clock
}

func (r *recency) forget(worker string) { delete(r.last, worker) }

// leastRecent is, for a request without a cached prefix, 1 for the worker that was
// sent such a request longest ago, or never, down to 0 for the last one; for
// others it is a half everywhere. It spreads the making of new prefixes.
func leastRecent(w *weighted, in router.Input, scores []float64) {
	if !cold(in) {
		for i := range scores {
			scores[i] = 0.5
		}
		return
	}
	order := make([]uint64, 0, len(in.Workers))
	for i := range in.Workers {
		order = append(order, w.sent.last[in.Workers[i].ID])
	}
	slices.Sort(order)
	for i := range in.Workers {
		// Workers that were never sent one share the first place.
		later, _ := slices.BinarySearch(order, w.sent.last[in.Workers[i].ID]+1)
		scores[i] = 1
		if n := len(in.Workers); n > 1 {
			scores[i] = float64(n-later) / float64(n-1)
		}
	}
}
