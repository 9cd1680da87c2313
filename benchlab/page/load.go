package page

import (
	"fmt"
	"time"

	"gatewayd/benchlab/sim/measure"
)

// maxRows is the most rows of a map of load; of larger fleets each row is the
// mean of several workers.
const maxRows = 64

// grid makes a map of the workers' load; false if nobody watched it.
func grid(series int, s *measure.Series) (Grid, bool) {
	if len(s.Load) == 0 || len(s.Load[0]) == 0 || s.Step <= 0 {
		return Grid{}, false
	}
	each := (len(s.Load) + maxRows - 1) / maxRows
	g := Grid{Series: series, Each: each, Span: rounded((time.Duration(len(s.Load[0])) * s.Step).Seconds())}
	for from := 0; from < len(s.Load); from += each {
		g.Rows++
		to := min(from+each, len(s.Load))
		for bucket := range s.Load[0] {
			sum := 0.0
			for _, worker := range s.Load[from:to] {
				if bucket < len(worker) {
					sum += float64(worker[bucket])
				}
			}
			g.Values = append(g.Values, tenths(sum/float64(to-from)))
		}
	}
	return g, true
}

// load is the workers' load over time, with the first seed.
func (v *view) load() Section {
	s := Section{ID: "load", Title: "Load of the workers"}
	c := Chart{Kind: Heat, Title: "Requests running or waiting at each worker", Wide: true,
		X: Axis{Label: "time, s"}, Y: Axis{Label: "worker"}, Z: Axis{Label: "requests"}, Alt: "Maps of the load of each worker over time, one for each contender."}
	workers := 0
	for i := range v.Contenders {
		runs := v.Contenders[i].Runs
		if len(runs) == 0 {
			continue
		}
		if g, ok := grid(i, &runs[0].Series); ok {
			c.Grids = append(c.Grids, g)
			workers = max(workers, len(runs[0].Series.Load))
			s.Lead = fmt.Sprintf("Each row is a worker; even colours from top to bottom are an even load. Seed %d; all maps have the same scale.", runs[0].Seed)
		}
	}
	if len(c.Grids) == 0 {
		return s
	}
	if workers > maxRows {
		c.Note = fmt.Sprintf("Each row is the mean of %d neighbouring workers.", (workers+maxRows-1)/maxRows)
	}
	s.Charts = []Chart{c}
	return s
}
