package estimator

import (
	"math"
	"time"
)

// Mean is a decayed mean: an observation's weight halves every half-life, so
// early ones count fully until later ones come. The zero Mean has no
// observation and HalfLife 0, which means a plain mean.
type Mean struct {
	HalfLife    time.Duration
	sum, weight float64
	last        int64
}

// Observe adds one observation at now (ns). Values that are not finite are ignored.
func (m *Mean) Observe(now int64, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if m.HalfLife > 0 && now > m.last && m.weight > 0 {
		d := exp2(-float64(now-m.last) / float64(m.HalfLife))
		m.sum, m.weight = m.sum*d, m.weight*d
	}
	m.sum, m.weight, m.last = m.sum+value, m.weight+1, max(now, m.last)
}

// Value returns the mean; ok is false if nothing was observed.
func (m *Mean) Value() (value float64, ok bool) {
	if m.weight == 0 {
		return 0, false
	}
	return m.sum / m.weight, true
}

// Last returns the time of the newest observation in ns.
func (m *Mean) Last() int64 { return m.last }

// Rate is a decayed count of events, in events per second: exact for a steady
// stream once a few half-lives have passed.
func (m *Mean) Rate(now int64) float64 {
	if m.weight == 0 || m.HalfLife <= 0 {
		return 0
	}
	d := exp2(-float64(max(0, now-m.last)) / float64(m.HalfLife))
	return m.weight * d * math.Ln2 / m.HalfLife.Seconds()
}
