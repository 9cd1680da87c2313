package trace

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Scale divides all times by rate: 2 doubles the requests per second. It fails
// unless rate is positive and finite and the slowed trace stays within 200 years.
func (t *Trace) Scale(rate float64) (*Trace, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return nil, fmt.Errorf("scale %s by %v: give a positive number, 1 to keep the recorded rate", t.Name, rate)
	}
	out := slices.Clone(t.Requests)
	for i := range out {
		at := math.Round(float64(out[i].At) / rate)
		if at > maxMillis*1e6 {
			return nil, fmt.Errorf("scale %s by %v: the trace becomes too long; give a larger number", t.Name, rate)
		}
		out[i].At = time.Duration(at)
	}
	return t.with(out, fmt.Sprintf("time divided by %v", rate)), nil
}

// Cut keeps the first rows requests, or all when there are not more.
func (t *Trace) Cut(rows int) *Trace {
	if rows >= len(t.Requests) {
		return t
	}
	rows = max(rows, 0)
	return t.with(t.Requests[:rows:rows], fmt.Sprintf("first %d of %d requests kept", rows, len(t.Requests)))
}
