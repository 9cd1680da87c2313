package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Scale divides all times, think times too, by rate: 2 doubles the requests per
// second. It fails unless rate is positive and finite and the slowed trace stays
// within 90 years.
func (t *Trace) Scale(rate float64) (*Trace, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return nil, fmt.Errorf("scale %s by %v: give a positive number, 1 to keep the recorded rate", t.Name, rate)
	}
	out := slices.Clone(t.Requests)
	for i := range out {
		at, think := math.Round(float64(out[i].At)/rate), math.Round(float64(out[i].Think)/rate)
		if max(at, think) > maxMillis*1e6 {
			return nil, fmt.Errorf("scale %s by %v: the trace becomes too long; give a larger number", t.Name, rate)
		}
		out[i].At, out[i].Think = time.Duration(at), time.Duration(think)
	}
	return t.with(out, fmt.Sprintf("time divided by %v", rate)), nil
}

// Cut keeps the first rows requests, or all when there are not more.
func (t *Trace) Cut(rows int) *Trace {
	if rows >= len(t.Requests) {
		return t
	}
	rows = max(rows, 0)
	return t.fewer(t.Requests[:rows:rows], fmt.Sprintf("first %d of %d requests kept", rows, len(t.Requests)))
}

// CutTime keeps the requests that arrive at from or later and before to; their
// times then count from from. A request whose predecessors are left out follows
// none.
func (t *Trace) CutTime(from, to time.Duration) *Trace {
	var keep []int32
	for i := range t.Requests {
		if at := t.Requests[i].At; at >= from && at < to {
			keep = append(keep, int32(i))
		}
	}
	out := picked(t.Requests, keep)
	for i := range out {
		out[i].At -= from
	}
	end := "the end"
	if to < maxMillis*time.Millisecond {
		end = to.String()
	}
	return t.fewer(out, fmt.Sprintf("%d of %d requests kept, those that arrive from %v to %s; times count from there", len(out), len(t.Requests), from, end))
}

// CutSessions keeps n whole sessions, drawn by seed; a request without a session
// is one of its own. With n at or above the number of sessions it keeps all.
func (t *Trace) CutSessions(n int, seed uint64) *Trace {
	all := sessionsOf(t.Requests)
	alone := 0
	if len(all) > 0 && all[0] == 0 {
		all = all[1:]
		for i := range t.Requests {
			if t.Requests[i].Session == 0 {
				alone++
			}
		}
	}
	total := len(all) + alone
	if n >= total {
		return t
	}
	rng := rand.New(rand.NewPCG(seed, 0x637574)) // "cut": a stream of its own
	drawn := rng.Perm(total)[:max(n, 0)]
	chosen, single := map[uint64]bool{}, map[int]bool{}
	for _, d := range drawn {
		if d < len(all) {
			chosen[all[d]] = true
		} else {
			single[d-len(all)] = true
		}
	}
	var keep []int32
	for i, k := 0, 0; i < len(t.Requests); i++ {
		s := t.Requests[i].Session
		if chosen[s] || s == 0 && single[k] {
			keep = append(keep, int32(i))
		}
		if s == 0 {
			k++
		}
	}
	return t.fewer(picked(t.Requests, keep), fmt.Sprintf("%d of %d sessions kept, drawn by seed %d", len(drawn), total, seed))
}

// fewer is the trace without some rows, about which the facts of the file say
// nothing.
func (t *Trace) fewer(rows []Request, note string) *Trace {
	c := t.with(rows, note)
	c.Facts = Facts{}
	return c
}
