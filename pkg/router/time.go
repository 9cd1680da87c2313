package router

import (
	"math"
	"time"
)

// Time is a point in time in nanoseconds since an origin that the driver
// chooses: the Unix epoch in a gateway, the start of the run in a simulation.
// Strategies compare and subtract times and never read a clock.
type Time int64

// Never marks a figure that has not been seen yet.
const Never Time = math.MinInt64

// Add returns the time d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns how long u lies before t; the longest duration if u is Never.
func (t Time) Sub(u Time) time.Duration {
	if u == Never {
		return math.MaxInt64
	}
	return time.Duration(t - u)
}

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

// Age returns how old the figure is at now; the longest duration if unknown.
func (g Gauge) Age(now Time) time.Duration { return now.Sub(g.At) }
