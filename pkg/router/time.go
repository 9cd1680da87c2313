package router

import (
	"math"
	"time"
)

// Time is a point in time in nanoseconds since an origin that the driver
// chooses: the Unix epoch in a gateway, the start of the run in a simulation.
// Strategies compare and subtract times and never read a clock. Drivers give
// times that do not run backwards; if one does, ages count as zero until time
// has caught up.
type Time int64

// Never marks a figure that has not been seen yet.
const Never Time = math.MinInt64

// Add returns the time d after t, or the nearest one there is.
func (t Time) Add(d time.Duration) Time {
	sum := t + Time(d)
	switch {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return Never + 1
	}
	return sum
}

// Sub returns how long u lies before t, negative if it lies after, or the
// nearest duration there is; the longest if u is Never.
func (t Time) Sub(u Time) time.Duration {
	d := time.Duration(t - u)
	switch {
	case u == Never || t > u && d < 0:
		return math.MaxInt64
	case t < u && d > 0:
		return math.MinInt64
	}
	return d
}

// since is the age of something that happened at u.
func (t Time) since(u Time) time.Duration { return max(0, t.Sub(u)) }

// Gauge is an observed figure with the time of its observation. Unknown is not
// zero: the zero Gauge means "zero, seen at the origin"; use Unknown for a
// figure that nobody has seen.
type Gauge struct {
	Value float64
	At    Time
}

// Unknown is a gauge that was never observed.
var Unknown = Gauge{At: Never}

// Known reports whether the figure was ever observed.
func (g Gauge) Known() bool { return g.At != Never }

// Age returns how old the figure is at now, 0 if it is from the future; the
// longest duration if unknown.
func (g Gauge) Age(now Time) time.Duration { return now.since(g.At) }

// finite returns the gauge, or Unknown if its value is not a finite number.
func (g Gauge) finite() Gauge {
	if math.IsNaN(g.Value) || math.IsInf(g.Value, 0) {
		return Unknown
	}
	return g
}
