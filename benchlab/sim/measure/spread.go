package measure

import (
	"math"
	"slices"

	"gatewayd/benchlab/engine"
)

// MinP99 is the least number of samples that a p99 is given for: of fewer it
// would be the maximum under another name.
const MinP99 = 100

// Spread sums up one figure over requests. Percentiles are by nearest rank: the
// least value that at least that share of the samples does not exceed.
type Spread struct {
	N    int           `json:"n"`
	Mean engine.Figure `json:"mean"`
	P50  engine.Figure `json:"p50"`
	P99  engine.Figure `json:"p99"` // unknown with fewer than 100 samples
	Max  engine.Figure `json:"max"`
	// P99All is P99 with failed requests counted as infinite; unknown when it is
	// infinite itself.
	P99All engine.Figure `json:"p99_failures_infinite"`
}

// spread sorts its samples.
func spread(samples []float64, failed int) Spread {
	s := Spread{N: len(samples)}
	if s.N == 0 {
		return s
	}
	slices.Sort(samples)
	sum := 0.0
	for _, v := range samples {
		sum += v
	}
	s.Mean = engine.Known(sum / float64(s.N))
	s.P50 = engine.Known(samples[rank(s.N, 50)])
	s.Max = engine.Known(samples[s.N-1])
	if s.N >= MinP99 {
		s.P99 = engine.Known(samples[rank(s.N, 99)])
	}
	if all := s.N + failed; all >= MinP99 && rank(all, 99) < s.N {
		s.P99All = engine.Known(samples[rank(all, 99)])
	}
	return s
}

// rank is the index of a percentile among n sorted samples.
func rank(n, percent int) int { return (n*percent+99)/100 - 1 }

// maxOverMean is 1 when all loads are equal; unknown without load.
func maxOverMean(loads []float64) engine.Figure {
	sum, most := 0.0, math.Inf(-1)
	for _, l := range loads {
		sum += l
		most = max(most, l)
	}
	if sum == 0 {
		return engine.Figure{}
	}
	return engine.Known(most * float64(len(loads)) / sum)
}
