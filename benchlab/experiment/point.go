package experiment

import (
	"math"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
)

// mayFail is the share of the requests that may fail at a load that is borne.
const mayFail = 0.05

// Point sums up the runs of one contender at one value of a condition, one run a
// seed.
func Point(at, rate float64, runs []measure.Figures, slo measure.SLO) report.Point {
	p := report.Point{At: at, Rate: rate, Figures: map[string]engine.Figure{}}
	for _, c := range report.Columns() {
		mean := 0.0
		for i := range runs {
			mean += c.Of(&runs[i]).Or(math.NaN()) / float64(len(runs))
		}
		p.Figures[c.Name] = figure(mean)
	}
	p99, known := p.Figures["ttft.p99"].Value()
	p.Meets = known && p99 <= slo.TTFT.Seconds() && p.Figures["failed"].Or(1) <= mayFail
	return p
}
