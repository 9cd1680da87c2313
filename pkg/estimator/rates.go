package estimator

import (
	"math"
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
// count * ln 2 / half-life, in requests per second.
//
// At most limit keys are tracked. A new one takes the place of the key with the
// least count, in O(log limit) time, by the rule of Space-Saving (Metwally,
// Agrawal and El Abbadi, 2005) on decayed counts: it must not be dropped before
// keys that may have had less, so for the next choice it counts as if it had had
// all that the dropped one had. What is reported is what was surely seen: a rate
// is never too high, and too low by at most Floor. Every key with more than one
// limit-th of the traffic is tracked.
type Rates struct {
	clock
	ranking
	limit int
	lost  float64 // highest weight that was dropped
}

// NewRates returns an empty estimate. halfLife must be at least a second and
// limit at least 1 and at most 2^20; other values count as the nearest of these.
func NewRates(halfLife time.Duration, limit int) *Rates {
	return &Rates{clock: newClock(max(halfLife, time.Second)), limit: min(max(limit, 1), maxRows)}
}

// HalfLife returns the time after which a silent key's rate has halved.
func (r *Rates) HalfLife() time.Duration { return time.Duration(r.halfLife) }

// Len returns the number of tracked keys.
func (r *Rates) Len() int { return r.n }

// Record counts one request for key with the given prompt length, at now in ns.
// A now before an earlier one counts as that one.
func (r *Rates) Record(now int64, key uint64, tokens int) {
	if shift := r.advance(now); shift > 0 {
		r.rescale(shift)
	}
	size := float32(max(tokens, 0))
	if i := r.find(key); i >= 0 {
		w := r.row(i)
		weight := w.weight() + r.weight
		w.setWeight(weight)
		w.tokens += (size - w.tokens) * float32(r.weight/(weight-float64(w.lost)))
		r.down(i)
		return
	}
	full := r.n == r.limit
	if full {
		r.lost = max(r.lost, r.row(0).weight())
	}
	lost := roundUp(r.lost)
	w := newRow(key, float64(lost)+r.weight, lost, size)
	if full {
		r.replaceLeast(w)
		return
	}
	r.add(w)
}

func (r *Rates) rescale(shift int) {
	factor := math.Ldexp(1, -shift)
	r.scale(factor)
	r.lost *= factor
}

// roundUp is the least float32 that is not below v.
func roundUp(v float64) float32 {
	f := float32(v)
	if float64(f) < v {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}

// Mark leaves a note on a tracked key, in place of an older one.
func (r *Rates) Mark(key uint64, mark uint32) {
	if i := r.find(key); i >= 0 {
		r.row(i).mark = mark
	}
}

// Forget drops a key; an unknown key is ignored.
func (r *Rates) Forget(key uint64) {
	if i := r.find(key); i >= 0 {
		r.remove(i)
	}
}

// Rate returns the key's rate at now, 0 if it is not tracked.
func (r *Rates) Rate(now int64, key uint64) float64 {
	i := r.find(key)
	if i < 0 {
		return 0
	}
	return r.row(i).seen() * (r.over(now) * r.perSecond())
}

// Floor returns the most that a rate may be too low at now, and the highest that
// a key which is not tracked may have, in requests per second. It is 0 until a
// key had to make room, and at most the total rate over limit.
func (r *Rates) Floor(now int64) float64 { return r.lost * r.over(now) * r.perSecond() }

// seen is the part of a weight that was recorded since the key came in.
func (w *row) seen() float64 { return max(0, w.weight()-float64(w.lost)) }
