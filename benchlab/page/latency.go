package page

import (
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// latency is the distributions of times.
func (v *view) latency() Section {
	s := Section{ID: "latency", Title: "Latency", Lead: "Share of the completed requests of all seeds that took at most so long. A curve further left is better; the upper end is the slowest requests."}
	for _, k := range []struct {
		figure, title, unit string
		scale, limit        float64
	}{
		{"ttft", "Time to first token (TTFT)", "s", 1, v.Setup.TTFT},
		{"tpot", "Time per output token (TPOT)", "ms", 1000, v.Setup.TPOT},
		{"e2e", "Arrival to last token (E2E)", "s", 1, 0},
	} {
		c := Chart{Kind: Lines, Title: k.title, X: Axis{Label: k.unit, Log: true}, Y: Axis{Label: "requests, %", Percent: true, Zero: true},
			Alt: "Cumulative distribution of " + k.title + " for each contender."}
		if k.limit > 0 {
			c.Rules = []Rule{{Axis: "x", At: k.limit * k.scale, Label: "SLO"}}
		}
		for i := range v.Contenders {
			for _, curve := range v.Contenders[i].Curves {
				if curve.Figure == k.figure && len(curve.Seconds) > 1 {
					c.Lines = append(c.Lines, distribution(i, curve, k.scale))
				}
			}
		}
		if len(c.Lines) > 0 {
			s.Charts = append(s.Charts, c)
		}
	}
	return s
}

func distribution(series int, curve report.Curve, scale float64) Line {
	l := Line{Series: series}
	for i, x := range curve.Seconds {
		l.X = append(l.X, rounded(x*scale))
		l.Y = append(l.Y, engine.Known(rounded(float64(i)/float64(len(curve.Seconds)-1))))
	}
	return l
}
