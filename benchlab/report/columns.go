package report

import (
	"strconv"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// column is one column of the table.
type column struct {
	group, head string
	value       func(*measure.Figures) engine.Figure
	scale       float64 // from the figure's unit to the head's
	decimals    int
	better      better
}

// better says which figures of a column are the good ones.
type better int

const (
	neither better = 0
	higher  better = 1
	lower   better = -1
)

func columns() []column {
	known := engine.Known
	return []column{
		{"KV hit", "%", func(f *measure.Figures) engine.Figure { return f.KVHit }, 100, 1, higher},
		{"TTFT s", "mean", func(f *measure.Figures) engine.Figure { return f.TTFT.Mean }, 1, 3, lower},
		{"TTFT s", "p50", func(f *measure.Figures) engine.Figure { return f.TTFT.P50 }, 1, 3, lower},
		{"TTFT s", "p99", func(f *measure.Figures) engine.Figure { return f.TTFT.P99 }, 1, 3, lower},
		{"TPOT ms", "mean", func(f *measure.Figures) engine.Figure { return f.TPOT.Mean }, 1000, 1, lower},
		{"TPOT ms", "p99", func(f *measure.Figures) engine.Figure { return f.TPOT.P99 }, 1000, 1, lower},
		{"imbalance", "requests", func(f *measure.Figures) engine.Figure { return f.ImbalanceRequests }, 1, 3, lower},
		{"imbalance", "tokens", func(f *measure.Figures) engine.Figure { return f.ImbalanceTokens }, 1, 3, lower},
		{"goodput", "req/s", func(f *measure.Figures) engine.Figure { return known(f.Goodput) }, 1, 2, higher},
		{"done", "req/s", func(f *measure.Figures) engine.Figure { return known(f.Throughput) }, 1, 2, higher},
		{"failed", "requests", func(f *measure.Figures) engine.Figure { return known(float64(f.Requests - f.Completed)) }, 1, 0, lower},
		{"prefill", "util %", func(f *measure.Figures) engine.Figure { return f.PrefillUtilisation }, 100, 1, neither},
		{"energy", "J/token", func(f *measure.Figures) engine.Figure { return f.JoulesPerToken }, 1, 3, lower},
		{"carbon", "gCO2e", func(f *measure.Figures) engine.Figure { return f.Grams }, 1, 1, lower},
		{"carbon", "g/1k tok", func(f *measure.Figures) engine.Figure { return f.GramsPer1kTokens }, 1, 4, lower},
		{"churn", "%", func(f *measure.Figures) engine.Figure { return f.Churn }, 100, 2, lower},
	}
}

// cell is a figure as the table shows it; "-" if it is unknown.
func (c *column) cell(f *measure.Figures) string {
	v, known := c.value(f).Value()
	if !known {
		return "-"
	}
	return strconv.FormatFloat(v*c.scale, 'f', c.decimals, 64)
}

// best returns the cell that all the best contenders show, "" if there is nothing
// to choose.
func (c *column) best(contenders []Contender) string {
	best, at, alike := 0.0, "", true
	for i := range contenders {
		f := &contenders[i].Figures
		v, known := c.value(f).Value()
		if !known {
			continue
		}
		v *= float64(c.better)
		cell := c.cell(f)
		alike = alike && (at == "" || cell == at)
		if at == "" || v > best {
			best, at = v, cell
		}
	}
	if c.better == neither || alike {
		return ""
	}
	return at
}
