package stats

import (
	"math/rand/v2"
	"runtime"
	"sync"
)

// Sample is one figure of one contender: its value in the run of each seed, and,
// where sessions are resampled, in each draw of each run.
type Sample struct {
	Values []float64   // by seed; NaN if undefined
	Draws  [][]float64 // by seed and draw; nil if the figure is not resampled
}

// Minus is the sample of the difference, seed by seed and draw by draw. Draws are
// there if both have them.
func (s Sample) Minus(t Sample) Sample {
	d := Sample{Values: minus(s.Values, t.Values)}
	if s.Draws == nil || t.Draws == nil {
		return d
	}
	for i := range s.Draws {
		d.Draws = append(d.Draws, minus(s.Draws[i], t.Draws[i]))
	}
	return d
}

func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// Bootstrap resamples the clusters, the same ones in all runs. Runs come by
// contender and seed and have the same figures; the result is by contender and
// figure. Work is shared between processors, which changes no result.
func Bootstrap(clusters int, runs [][]*Run, draws int, seed uint64) [][]Sample {
	out := make([][]Sample, len(runs))
	columns := 0
	for c := range runs {
		for s, r := range runs[c] {
			columns = max(columns, r.columns)
			if s == 0 {
				out[c] = make([]Sample, len(r.figures))
			}
			for f := range r.figures {
				out[c][f].Values = append(out[c][f].Values, 0)
				out[c][f].Draws = append(out[c][f].Draws, make([]float64, draws))
			}
		}
	}
	evaluate(runs, nil, make([]float64, columns), func(c, s, f int, v float64) { out[c][f].Values[s] = v })
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		all.Go(func() {
			w, buffer := make([]uint16, clusters), make([]float64, columns)
			for d := first; d < draws; d += workers {
				draw(rand.New(rand.NewPCG(seed, uint64(d))), w)
				evaluate(runs, w, buffer, func(c, s, f int, v float64) { out[c][f].Draws[s][d] = v })
			}
		})
	}
	all.Wait()
	return out
}

func evaluate(runs [][]*Run, w []uint16, buffer []float64, put func(contender, seed, figure int, v float64)) {
	var values []float64
	for c := range runs {
		for s, r := range runs[c] {
			if len(values) < len(r.figures) {
				values = make([]float64, len(r.figures))
			}
			r.under(w, buffer, values)
			for f := range r.figures {
				put(c, s, f, values[f])
			}
		}
	}
}

// Draws is how many draws are worth their time for that many values in all runs:
// 1,000, or fewer when there is much to resample. 200 give a standard error
// within some 5 %.
func Draws(values int) int {
	const most, least, budget = 1000, 200, 2_000_000_000
	return min(most, max(least, budget/max(values, 1)))
}
