package page

import (
	"fmt"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// differences is how far the contenders are from the baseline.
func (v *view) differences() Section {
	s := Section{ID: "differences", Title: "Differences to the baseline"}
	if !v.compares() {
		return s
	}
	base := v.Baseline().Name
	s.Lead = fmt.Sprintf("Each contender minus %s on the same arrivals, lengths and faults. The bars are intervals that hold for all contenders together with %s confidence: one that does not reach 0 is a difference that is sure.",
		base, percent(v.Statistics.Confidence))
	for _, k := range v.columns("ttft.mean", "ttft.p99", "tpot.mean", "e2e.mean", "goodput", "failed", "kv_hit", "imbalance.tokens", "energy", "carbon") {
		if c, any := v.forest(k); any {
			s.Charts = append(s.Charts, c)
		}
	}
	s.Tables = []Table{v.differenceTable()}
	s.Notes = []string{fmt.Sprintf("Could have been seen: the smallest true difference that this comparison would have told from 0 with a probability of %s, for the contender where that is hardest.", percent(v.Statistics.Power))}
	return s
}

// forest draws the differences of one figure; false if nothing differs.
func (v *view) forest(k *report.Column) (Chart, bool) {
	c := Chart{Kind: Intervals, Title: capital(k.Label), X: Axis{Label: axisOfDifference(k), Zero: true}, Rules: []Rule{{Axis: "x"}},
		Alt: "Differences of " + k.Label + " to " + v.Baseline().Name + " with intervals; the table below has the numbers."}
	any := false
	for _, i := range v.others() {
		d := v.difference(i, k.Name)
		any = any || d.Mean.Or(0) != 0
		c.Intervals = append(c.Intervals, Interval{
			Series: i, Value: scaled(k, d.Mean), Low: scaled(k, d.Low), High: scaled(k, d.High),
			Text: signed(k, d.Mean) + v.relative(k, d.Mean), Unsure: !sure(d.Verdict),
		})
	}
	return c, any
}

// sure tells whether a difference is one.
func sure(s report.Standing) bool {
	return s == report.Better || s == report.Worse || s == report.Different
}

// axisOfDifference names the axis, and its good side.
func axisOfDifference(k *report.Column) string {
	label := "difference"
	if k.Unit != "" {
		label += ", " + unitOfDifference(k)
	}
	switch k.Better {
	case report.Higher:
		return label + ", better →"
	case report.Lower:
		return "← better, " + label
	}
	return label
}

// relative writes a difference as a part of the baseline's figure, in brackets.
// Of shares, whose differences are points, it writes nothing.
func (v *view) relative(k *report.Column, d engine.Figure) string {
	base, known := v.Baseline().Figures[k.Name].Mean.Value()
	diff, known2 := d.Value()
	if !known || !known2 || base <= 0 || k.Unit == "%" {
		return ""
	}
	sign := ""
	if diff > 0 {
		sign = "+"
	}
	return fmt.Sprintf(" (%s%s)", sign, roughly(diff/base))
}

func (v *view) differenceTable() Table {
	t := Table{Caption: "Contender minus " + v.Baseline().Name, Columns: []Column{{Head: "contender", Text: true}}}
	cols := v.columns("ttft.mean", "ttft.p99", "tpot.mean", "goodput", "kv_hit", "imbalance.tokens", "energy")
	for _, k := range cols {
		head := heading(k, false)
		if k.Unit == "%" {
			head.Head = k.Label + ", points"
		}
		t.Columns = append(t.Columns, head)
	}
	for _, i := range v.others() {
		row := Row{Series: i, Cells: []Cell{{Text: v.Contenders[i].Name}}}
		for _, k := range cols {
			d := v.difference(i, k.Name)
			cell := figureCell(signed(k, d.Mean), d.Mean, span(signed(k, d.Low), signed(k, d.High)))
			cell.Standing = standing(d.Verdict)
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	least := Row{Series: -1, Cells: []Cell{{Text: "could have been seen"}}}
	for _, k := range cols {
		f := v.detectable(k.Name)
		least.Cells = append(least.Cells, figureCell(in(k, f), engine.Figure{}, ""))
	}
	t.Rows = append(t.Rows, least)
	return t
}

// detectable is the largest of the contenders' smallest visible differences.
func (v *view) detectable(name string) engine.Figure {
	var most engine.Figure
	for _, i := range v.others() {
		if x, known := v.difference(i, name).Detectable.Value(); known && x >= most.Or(0) {
			most = engine.Known(x)
		}
	}
	return most
}
