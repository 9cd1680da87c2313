package estimator

import (
	"math"
	"time"
)

// Ratio is a decayed mean of parts over a decayed mean of wholes: an observation's
// weight halves every half-life. The zero Ratio has no observation and HalfLife 0,
// which means that nothing fades.
type Ratio struct {
	HalfLife             time.Duration
	part, whole, weights float64
	last                 int64
}

// Observe adds one observation at now (ns). One whose part is not a finite number of
// at least 0, or whose whole is not one above 0, is ignored.
func (q *Ratio) Observe(now int64, part, whole float64) {
	if !(part >= 0 && whole > 0) || math.IsInf(part, 0) || math.IsInf(whole, 0) {
		return
	}
	if q.HalfLife > 0 && now > q.last && q.weights > 0 {
		d := exp2(-float64(now-q.last) / float64(q.HalfLife))
		q.part, q.whole, q.weights = q.part*d, q.whole*d, q.weights*d
	}
	q.part, q.whole, q.weights, q.last = q.part+part, q.whole+whole, q.weights+1, max(now, q.last)
}

// Value returns the ratio; ok is false if nothing was observed of late.
func (q *Ratio) Value() (value float64, ok bool) {
	whole := q.whole / q.weights
	if q.weights == 0 || whole <= 0 {
		return 0, false
	}
	return q.part / q.weights / whole, true
}
