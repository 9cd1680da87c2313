package estimator

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
)

// DefaultLimit is a number of keys to track where nothing else is known.
const DefaultLimit = 1 << 17

// Shares estimates each key's part of the traffic as VeloxQuant's estimator does:
// exponentially decayed counts on one clock that ticks once with every recorded
// request, of any key. A request adds 1, and a count halves every half-life of
// ticks; so it decays while its key is silent, and tends to p / (1 -
// 0.5^(1/half-life)) for a key with a share p of the requests.
//
// At most limit keys are tracked; a new one takes the place of the key with the
// least decayed count, of equal ones that seen longest ago.
type Shares struct {
	halfLife float64 // ticks
	limit    int
	ticks    int64
	at       map[uint64]*share
	order    shareHeap
}

// share is a count with the time that it was made. What orders shares does not
// change with time, since decay lowers all counts alike: log2(count) + last /
// half-life.
type share struct {
	key   uint64
	count float64
	last  int64
	order float64
	place int // in the heap
}

// Share is a key's decayed count.
type Share struct {
	Key   uint64
	Count float64
}

// NewShares returns an empty estimate. It fails unless halfLife, in requests, is
// a finite number above 0 and limit at least 1.
func NewShares(halfLife float64, limit int) (*Shares, error) {
	if !(halfLife > 0) || math.IsInf(halfLife, 0) {
		return nil, fmt.Errorf("half-life of %v requests: it must be a finite number above 0", halfLife)
	}
	if limit < 1 {
		return nil, fmt.Errorf("limit of %d keys: it must be at least 1", limit)
	}
	return &Shares{halfLife: halfLife, limit: limit, at: map[uint64]*share{}}, nil
}

// Len returns the number of tracked keys.
func (s *Shares) Len() int { return len(s.order) }

// Record counts one request for key. It takes O(log limit) time.
func (s *Shares) Record(key uint64) {
	s.ticks++
	e := s.at[key]
	switch {
	case e != nil:
		e.count = e.count*s.decay(e) + 1
	case len(s.order) == s.limit:
		e = s.order[0]
		delete(s.at, e.key)
		*e = share{key: key, count: 1}
		s.at[key] = e
	default:
		e = &share{key: key, count: 1, order: math.Inf(1)}
		s.at[key] = e
		heap.Push(&s.order, e)
	}
	e.last = s.ticks
	e.order = math.Log2(e.count) + float64(e.last)/s.halfLife
	heap.Fix(&s.order, e.place)
}

// Count returns the key's decayed count now, 0 if it is not tracked.
func (s *Shares) Count(key uint64) float64 {
	e := s.at[key]
	if e == nil {
		return 0
	}
	return e.count * s.decay(e)
}

// Counts returns the decayed counts of all tracked keys now, ordered by key.
func (s *Shares) Counts() []Share {
	counts := make([]Share, 0, len(s.order))
	for _, e := range s.order {
		counts = append(counts, Share{e.key, e.count * s.decay(e)})
	}
	slices.SortFunc(counts, func(a, b Share) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return counts
}

// Rates returns the counts as requests per second, ordered by key, given the
// request rate of all keys together.
func (s *Shares) Rates(total float64) []Rate {
	perCount := total * (1 - math.Exp2(-1/s.halfLife))
	rates := make([]Rate, 0, len(s.order))
	for _, c := range s.Counts() {
		rates = append(rates, Rate{Key: c.Key, PerSecond: c.Count * perCount})
	}
	return rates
}

// Forget drops a key; an unknown key is ignored.
func (s *Shares) Forget(key uint64) {
	if e := s.at[key]; e != nil {
		delete(s.at, key)
		heap.Remove(&s.order, e.place)
	}
}

func (s *Shares) decay(e *share) float64 {
	return math.Exp2(-float64(s.ticks-e.last) / s.halfLife)
}

type shareHeap []*share

func (h shareHeap) Len() int { return len(h) }
func (h shareHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.order != b.order {
		return a.order < b.order
	}
	return a.last < b.last // never equal: a tick is one key's
}
func (h shareHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *shareHeap) Push(x any) {
	e := x.(*share)
	e.place = len(*h)
	*h = append(*h, e)
}
func (h *shareHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
