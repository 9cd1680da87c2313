package experiment

import (
	"fmt"
	"strings"

	"gatewayd/benchlab/report"
)

const (
	fewSessions = 40  // below which intervals become too narrow (Cameron and Miller, Journal of Human Resources 50, 2015)
	fewSeeds    = 5   // below which what seeds draw is hardly seen
	manyFailed  = .01 // from which times of completed requests flatter
	overrun     = 1.5 // times what a fleet bears is overload
)

// warnings says what makes the figures less sure than they look, each thing once.
func (a *Analysis) warnings(c *report.Comparison) []string {
	out := a.doubts(&c.Statistics)
	var failing, late []string
	for i := range c.Contenders {
		k := &c.Contenders[i]
		if v, known := k.Figures["failed"].Mean.Value(); known && v >= manyFailed {
			failing = append(failing, fmt.Sprintf("%s %.1f %%", k.Name, v*100))
		}
		if seconds, over := overloaded(k.Runs, c.Setup.Trace.Span); over {
			late = append(late, fmt.Sprintf("%s %.0f s", k.Name, seconds))
		}
	}
	if failing != nil {
		out = append(out, "many requests failed, and times are of completed ones (see TTFT p99 all): "+strings.Join(failing, ", "))
	}
	if late != nil {
		out = append(out, fmt.Sprintf("overloaded, so that times grow with the length of the traffic: requests arrive in %.0f s, and it takes %s",
			c.Setup.Trace.Span, strings.Join(late, ", ")))
	}
	if n, of := missing(c); n > 0 {
		out = append(out, fmt.Sprintf("faults that did not happen, since a run had ended before: %d of %d", n, of))
	}
	return out
}

// missing is how many faults of the schedule did not happen in the run that had
// the fewest.
func missing(c *report.Comparison) (n, of int) {
	of = len(c.Setup.Options.Faults)
	for i := range c.Contenders {
		for r := range c.Contenders[i].Runs {
			begun := 0
			for _, f := range c.Contenders[i].Runs[r].Faults {
				if !f.Over {
					begun++
				}
			}
			n = max(n, of-begun)
		}
	}
	return n, of
}

// doubts are those about the intervals.
func (a *Analysis) doubts(s *report.Statistics) []string {
	out := []string{}
	switch {
	case a.clusters.Len() == 1:
		out = append(out, "one session: there is nothing to resample, so there are no intervals; give more traffic")
	case s.EffectiveSessions < fewSessions:
		out = append(out, fmt.Sprintf("%.0f effective sessions are few: intervals may be too narrow; give at least %d, with more traffic", s.EffectiveSessions, fewSessions))
	}
	switch n := len(s.Seeds); {
	case n == 1:
		out = append(out, "one seed: intervals do not cover what seeds draw; give --seeds 5")
	case n < fewSeeds:
		out = append(out, fmt.Sprintf("%d seeds are few to see what they draw; give --seeds %d", n, fewSeeds))
	}
	return out
}

// overloaded tells how long the runs take, and whether that is because requests
// wait the longer the later they come: in a fleet that gets overrun times what it
// bears, waits grow from 0 to overrun-1 times the span of the arrivals. Long
// answers to the last requests are no overload.
func overloaded(runs []report.Run, span float64) (seconds float64, over bool) {
	const short = 1 // s, of arrivals that are a burst rather than a load
	wait := 0.0
	for i := range runs {
		seconds += runs[i].Figures.Seconds / float64(len(runs))
		wait += runs[i].Figures.TTFT.Mean.Or(0) / float64(len(runs))
	}
	return seconds, span >= short && seconds > overrun*span && wait > (overrun-1)*span/2
}
