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
// least count by the rule of Space-Saving (Metwally,
// Agrawal and El Abbadi, 2005) on decayed counts: it must not be dropped before
// keys that may have had less, so for the next choice it counts as if it had had
// all that the dropped one had. What is reported is what was surely seen: a rate
// is never too high, and too low by at most Floor. Every key with more than one
// limit-th of the traffic is tracked.
type Rates struct {
	clock
	table
	limit int
	lost  float64 // highest weight that was dropped
}

// NewRates returns an empty estimate. halfLife must be at least a second and
// limit at least 1 and at most 2^20; other values count as the nearest of these.
func NewRates(halfLife time.Duration, limit int) *Rates {
	r := &Rates{clock: newClock(max(halfLife, time.Second)), limit: min(max(limit, 1), maxRows)}
	r.init()
	return r
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
	if w := r.find(key); w != nil {
		weight := w.weight() + r.weight
		w.setWeight(weight)
		w.tokens += (size - w.tokens) * float32(r.weight/(weight-float64(w.lost)))
		return
	}
	if r.n == r.limit {
		r.lost = max(r.lost, r.dropLeast())
	}
	lost := roundUp(r.lost)
	r.add(newRow(key, float64(lost)+r.weight, lost, size))
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
	if w := r.find(key); w != nil {
		w.mark = mark
	}
}

// Forget drops a key; an unknown key is ignored.
func (r *Rates) Forget(key uint64) {
	if w := r.find(key); w != nil {
		r.remove(w.hash())
	}
}

// Rate returns the key's rate at now, 0 if it is not tracked.
func (r *Rates) Rate(now int64, key uint64) float64 {
	w := r.find(key)
	if w == nil {
		return 0
	}
	return w.seen() * (r.over(now) * r.perSecond())
}

// Floor returns the most that a rate may be too low at now, and the highest that
// a key which is not tracked may have, in requests per second. It is 0 until a
// key had to make room, and at most the total rate over limit.
func (r *Rates) Floor(now int64) float64 { return r.lost * r.over(now) * r.perSecond() }

// seen is the part of a weight that was recorded since the key came in.
func (w *row) seen() float64 { return max(0, w.weight()-float64(w.lost)) }
