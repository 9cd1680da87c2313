package estimator

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// Rate is the demand for one key.
type Rate struct {
	Key       uint64
	PerSecond float64 // requests per second
	Tokens    float64 // mean prompt tokens per request
	Mark      uint32  // the owner's last note on the key, 0 if there is none
}

// Rates estimates the request rate of many keys as exponentially decayed
// counts: a request adds 1, and the count halves every half-life. The rate is
// count * ln 2 / half-life, in requests per second. At most Limit keys are
// tracked; the key with the lowest decayed count makes room for a new one.
type Rates struct {
	halfLife float64 // ns
	limit    int
	rows     []row
	at       map[uint64]int32
	// evict is a heap of row numbers by a lower bound of their order, which is
	// log2(count) + last/halfLife: decay moves all orders alike, and a request
	// only raises its key's. So a request does not touch the heap; an eviction
	// first settles stale bounds at the top.
	evict evictHeap
}

type row struct {
	key    uint64
	count  float64 // at time last
	last   int64   // ns
	tokens float64 // decayed sum of prompt tokens, decays like count
	bound  float64
	mark   uint32
}

// NewRates returns an empty estimate. halfLife must be > 0 and limit >= 1;
// other values are raised to one second and one key.
func NewRates(halfLife time.Duration, limit int) *Rates {
	r := &Rates{halfLife: float64(max(halfLife, time.Second)), limit: max(limit, 1)}
	r.at = make(map[uint64]int32)
	r.evict.rates = r
	return r
}

// HalfLife returns the time after which a silent key's rate has halved.
func (r *Rates) HalfLife() time.Duration { return time.Duration(r.halfLife) }

// Len returns the number of tracked keys.
func (r *Rates) Len() int { return len(r.rows) }

// Record counts one request for key with the given prompt length. A now before
// the key's last request counts as at that request.
func (r *Rates) Record(now int64, key uint64, tokens int) {
	i, ok := r.at[key]
	if !ok {
		r.insert(row{key: key, count: 1, last: now, tokens: float64(max(tokens, 0))})
		return
	}
	w := &r.rows[i]
	d := r.decay(now - w.last)
	w.count, w.tokens = w.count*d+1, w.tokens*d+float64(max(tokens, 0))
	w.last = max(now, w.last)
}

func (r *Rates) insert(w row) {
	w.bound = r.order(&w)
	if len(r.rows) < r.limit {
		r.rows = append(r.rows, w)
		r.at[w.key] = int32(len(r.rows) - 1)
		heap.Push(&r.evict, int32(len(r.rows)-1))
		return
	}
	for {
		top := r.evict.rows[0]
		if now := r.order(&r.rows[top]); now > r.rows[top].bound {
			r.rows[top].bound = now
			heap.Fix(&r.evict, 0)
			continue
		}
		delete(r.at, r.rows[top].key)
		r.rows[top] = w
		r.at[w.key] = top
		heap.Fix(&r.evict, 0)
		return
	}
}

// Mark leaves a note on a tracked key, in place of an older one.
func (r *Rates) Mark(key uint64, mark uint32) {
	if i, ok := r.at[key]; ok {
		r.rows[i].mark = mark
	}
}

// Forget drops a key; an unknown key is ignored.
func (r *Rates) Forget(key uint64) {
	i, ok := r.at[key]
	if !ok {
		return
	}
	delete(r.at, key)
	heap.Remove(&r.evict, slices.Index(r.evict.rows, i))
	last := int32(len(r.rows) - 1)
	if i != last {
		r.rows[i] = r.rows[last]
		r.at[r.rows[i].key] = i
		r.evict.rows[slices.Index(r.evict.rows, last)] = i
	}
	r.rows = r.rows[:last]
}

// Rate returns the key's rate at now, 0 if it is not tracked.
func (r *Rates) Rate(now int64, key uint64) float64 {
	i, ok := r.at[key]
	if !ok {
		return 0
	}
	return r.rows[i].count * r.decay(now-r.rows[i].last) * r.perCount()
}

// Snapshot returns the rates at now, ordered by key. Keys whose rate fell under
// floor requests per second are left out.
func (r *Rates) Snapshot(now int64, floor float64) []Rate {
	out := make([]Rate, 0, len(r.rows))
	for i := range r.rows {
		w := &r.rows[i]
		if rate := w.count * r.decay(now-w.last) * r.perCount(); rate >= floor && rate > 0 {
			out = append(out, Rate{Key: w.key, PerSecond: rate, Tokens: w.tokens / w.count, Mark: w.mark})
		}
	}
	slices.SortFunc(out, func(a, b Rate) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return out
}

func (r *Rates) perCount() float64 { return math.Ln2 / (r.halfLife / 1e9) }

func (r *Rates) decay(dt int64) float64 {
	if dt <= 0 {
		return 1
	}
	return math.Exp2(-float64(dt) / r.halfLife)
}

func (r *Rates) order(w *row) float64 { return math.Log2(w.count) + float64(w.last)/r.halfLife }

type evictHeap struct {
	rates *Rates
	rows  []int32
}

func (h *evictHeap) Len() int { return len(h.rows) }
func (h *evictHeap) Less(i, j int) bool {
	a, b := &h.rates.rows[h.rows[i]], &h.rates.rows[h.rows[j]]
	if a.bound != b.bound {
		return a.bound < b.bound
	}
	return a.key < b.key
}
func (h *evictHeap) Swap(i, j int) { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *evictHeap) Push(x any)    { h.rows = append(h.rows, x.(int32)) }
func (h *evictHeap) Pop() any {
	n := len(h.rows) - 1
	x := h.rows[n]
	h.rows = h.rows[:n]
	return x
}

// Frozen is a copy of the estimate at one moment, safe to use elsewhere.
type Frozen struct {
	rates Rates
}

// Freeze copies the estimate in one block copy, without sorting or decaying.
func (r *Rates) Freeze() *Frozen {
	return &Frozen{Rates{halfLife: r.halfLife, rows: slices.Clone(r.rows)}}
}

// At returns the frozen rates as of now, ordered by key, as Rates.Snapshot does.
func (f *Frozen) At(now int64, floor float64) []Rate { return f.rates.Snapshot(now, floor) }
