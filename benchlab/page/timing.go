package page

import (
	"fmt"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// timing is what decisions cost in wall-clock time.
func timing(t *report.Timing, series func(string) int) Section {
	s := Section{ID: "timing", Title: "Cost of a decision", Mark: "not reproducible"}
	if t == nil {
		return s
	}
	s.Lead = fmt.Sprintf("Wall-clock time on the machine that made this report; another run gives other numbers. %s were simulated in %s s on %s.",
		count(t.Requests, "request"), figures3(t.Seconds), count(t.Processors, "processor"))
	table := Table{Caption: "Calls to strategies, µs", Columns: []Column{{Head: "contender", Text: true}, {Head: "strategy", Text: true}, {Head: "call", Text: true}, {Head: "calls"}, {Head: "mean"}, {Head: "p99, at most"}, {Head: "max"}}}
	chart := Chart{Kind: Intervals, Title: "Simulated time a request, decisions included", X: Axis{Label: "µs", Zero: true},
		Alt: "Wall-clock time that a request took to simulate, for each contender."}
	for _, c := range t.Contenders {
		i := series(c.Name)
		for _, call := range c.Calls {
			row := Row{Series: i, Cells: []Cell{{Text: c.Name}, {Text: call.Strategy}, {Text: call.Call}, figureCell(decimal(float64(call.Count), 0), known(float64(call.Count)), "")}}
			for _, seconds := range []float64{call.Mean, call.P99, call.Max} {
				row.Cells = append(row.Cells, figureCell(figures3(seconds*1e6), known(seconds*1e6), ""))
			}
			table.Rows = append(table.Rows, row)
		}
		if i >= 0 {
			value := known(rounded(c.PerRequest * 1e6))
			chart.Intervals = append(chart.Intervals, Interval{Series: i, Value: value, Text: figures3(c.PerRequest * 1e6)})
		}
	}
	if len(table.Rows) > 0 {
		s.Tables = []Table{table}
	}
	if len(chart.Intervals) > 0 {
		s.Charts = []Chart{chart}
	}
	return s
}

func known(v float64) engine.Figure { return engine.Known(v) }
