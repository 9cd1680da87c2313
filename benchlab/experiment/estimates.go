package experiment

import (
	"math"
	"slices"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/stats"
)

// resampling is the seed of the bootstrap: one and the same, so that equal runs
// have equal intervals.
const resampling = 0x62656e63686c6162

// estimate fills in all figures of all contenders.
func (a *Analysis) estimate(c *report.Comparison, draws int) {
	runs := make([][]*stats.Run, len(a.kept))
	for i, kept := range a.kept {
		for _, k := range kept {
			runs[i] = append(runs[i], k.resampled)
		}
	}
	drawn := stats.Bootstrap(a.clusters.Len(), runs, draws, resampling)
	number := 0
	for k := range c.Figures {
		col := &c.Figures[k]
		samples := make([]stats.Sample, len(runs))
		for i := range samples {
			if col.Sessions {
				samples[i].Draws = drawn[i][number].Draws
			}
			samples[i].Values = a.values(i, col)
		}
		if col.Sessions {
			number++
		}
		a.figure(c, col, samples)
	}
}

// values are a contender's figures by seed; NaN where unknown.
func (a *Analysis) values(contender int, col *report.Column) []float64 {
	var out []float64
	for s := range a.runs[contender] {
		out = append(out, col.Of(&a.runs[contender][s].Figures).Or(math.NaN()))
	}
	return out
}

// figure estimates one figure of all contenders and its differences.
func (a *Analysis) figure(c *report.Comparison, col *report.Column, samples []stats.Sample) {
	effective := c.Statistics.EffectiveSessions
	var differences []stats.Sample
	var estimates []stats.Estimate
	for i, s := range samples {
		e := stats.Of(s, effective)
		out := report.Estimate{Mean: figure(e.Mean)}
		out.Low, out.High = interval(e.Mean, e.Half(1-Confidence))
		out.Low = notNegative(out.Low)
		for _, v := range s.Values {
			out.Seeds = append(out.Seeds, figure(v))
		}
		c.Contenders[i].Figures[col.Name] = out
		d := s.Minus(samples[a.plan.Baseline])
		differences, estimates = append(differences, d), append(estimates, stats.Of(d, effective))
	}
	f := stats.Together(differences, estimates, Confidence, resampling)
	for i, e := range estimates {
		if i == a.plan.Baseline {
			continue
		}
		out := c.Contenders[i].Figures[col.Name]
		out.Difference = difference(e, &f, col.Better)
		c.Contenders[i].Figures[col.Name] = out
	}
}

func difference(e stats.Estimate, f *stats.Family, good report.Way) *report.Difference {
	d := &report.Difference{
		Mean: figure(e.Mean), P: figure(f.Adjusted(e.P())), Detectable: figure(e.Detectable(f.Outside, Power)),
		Verdict: report.Unknown,
	}
	half := e.Half(f.Outside)
	d.Low, d.High = interval(e.Mean, half)
	if !math.IsNaN(e.Mean) && !math.IsNaN(half) {
		d.Verdict = standing(e.Mean, half, good)
	}
	return d
}

func standing(mean, half float64, good report.Way) report.Standing {
	switch {
	case mean == 0 || math.Abs(mean) <= half:
		return report.Indistinguishable
	case good == report.Neither:
		return report.Different
	case (mean > 0) == (good == report.Higher):
		return report.Better
	default:
		return report.Worse
	}
}

func figure(v float64) engine.Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return engine.Figure{}
	}
	return engine.Known(v)
}

func interval(mean, half float64) (low, high engine.Figure) {
	return figure(mean - half), figure(mean + half)
}

// notNegative cuts off the part of an interval where no figure can be.
func notNegative(f engine.Figure) engine.Figure {
	if v, known := f.Value(); known {
		return engine.Known(max(0, v))
	}
	return f
}

// misses are shares of the prompt tokens, means over seeds; unknown where the
// reasons are, as in live runs.
func misses(kept []*reduced) report.Misses {
	var m report.Misses
	for _, x := range []struct {
		sum  int
		into *engine.Figure
	}{{cached, &m.Cached}, {compulsory, &m.Compulsory}, {evicted, &m.Evicted}, {elsewhere, &m.Elsewhere}, {stale, &m.Stale}} {
		mean := 0.0
		for _, k := range kept {
			if x.sum != cached && k.sums[cached]+k.sums[compulsory]+k.sums[evicted]+k.sums[elsewhere]+k.sums[stale] != k.sums[prompt] {
				mean = math.NaN()
			}
			mean += k.sums[x.sum] / k.sums[prompt] / float64(len(kept))
		}
		*x.into = figure(mean)
	}
	return m
}

// curves are the distributions over the requests of all seeds.
func curves(kept []*reduced) []report.Curve {
	const steps = 200
	var out []report.Curve
	for i, name := range []string{"ttft", "tpot", "e2e"} {
		var values []float32
		for _, k := range kept {
			values = k.orders[i].Append(values)
		}
		slices.Sort(values)
		c := report.Curve{Figure: name, Seconds: []float64{}}
		for s := 0; s <= steps && len(values) > 0; s++ {
			at := max(0, (s*len(values)+steps-1)/steps-1)
			c.Seconds = append(c.Seconds, float64(values[at]))
		}
		out = append(out, c)
	}
	return out
}
