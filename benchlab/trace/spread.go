package trace

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	minTick      = 10 * time.Millisecond // shorter quantisation does no harm
	minDistinct  = 8                     // fewer distinct timestamps prove no grid
	tickSlack    = 0.05                  // of a tick, by which a timestamp may lie off the grid
	tickNeighbor = 1.5                   // gaps up to this times the least one are single ticks
)

// Tick is the step of a recorder that wrote down arrivals only every so often, or
// 0 when there is none. A trace is quantised if requests share timestamps and
// all gaps between distinct timestamps (at least eight of them) are multiples,
// within 5 %, of one step of 10 ms or more.
func (t *Trace) Tick() time.Duration {
	gaps, distinct := t.gaps()
	if distinct < minDistinct || distinct == len(t.Requests) {
		return 0
	}
	least := slices.Min(gaps)
	single := slices.DeleteFunc(slices.Clone(gaps), func(g time.Duration) bool {
		return float64(g) > tickNeighbor*float64(least)
	})
	slices.Sort(single)
	guess := float64(single[len(single)/2])
	span, steps := 0.0, 0.0
	for _, g := range gaps {
		span += float64(g)
		steps += math.Round(float64(g) / guess)
	}
	tick := span / steps
	if tick < float64(minTick) {
		return 0
	}
	for _, g := range gaps {
		if off := float64(g) - math.Round(float64(g)/tick)*tick; math.Abs(off) > tickSlack*tick {
			return 0
		}
	}
	return time.Duration(tick)
}

// gaps lists the positive gaps between successive arrivals and counts the
// distinct arrival times.
func (t *Trace) gaps() (gaps []time.Duration, distinct int) {
	for i := range t.Requests {
		if i == 0 {
			distinct++
		} else if g := t.Requests[i].At - t.Requests[i-1].At; g > 0 {
			gaps = append(gaps, g)
			distinct++
		}
	}
	return gaps, distinct
}

// Spread draws the arrivals of a quantised trace anew, uniformly inside their
// tick, which begins at the recorded time, and in the recorded order. Equal seeds
// give equal arrivals. A trace without a Tick, or whose sessions have no common
// clock, is returned as it is. Spread before Cut and Scale: both can make a tick
// too rare or too short to be seen.
func (t *Trace) Spread(seed uint64) *Trace {
	tick := t.Tick()
	if tick == 0 || !t.Clock && t.Scope == ScopeSession {
		return t
	}
	rng := rand.New(rand.NewPCG(seed, 0x7469636b)) // "tick": a stream of its own
	out := slices.Clone(t.Requests)
	for i := 0; i < len(out); {
		start := out[i].At
		end, width := i, tick
		for end < len(out) && out[end].At == start {
			end++
		}
		if end < len(out) {
			width = min(width, out[end].At-start)
		}
		group := out[i:end]
		offsets := make([]time.Duration, len(group))
		for k := range offsets {
			offsets[k] = time.Duration(rng.Int64N(int64(width)))
		}
		slices.SortFunc(offsets, cmp.Compare)
		for k := range group {
			group[k].At += offsets[k]
		}
		i = end
	}
	return t.with(out, fmt.Sprintf("arrivals spread uniformly inside ticks of %v, seed %d", tick.Round(time.Microsecond), seed))
}
