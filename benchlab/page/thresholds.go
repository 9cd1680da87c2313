package page

import "gatewayd/benchlab/report"

// thresholds is what was asked for and what became of it.
func (v *view) thresholds() Section {
	s := Section{ID: "thresholds", Title: "Thresholds"}
	t := Table{Caption: "Held against the means of all seeds", Columns: []Column{{Head: "contender", Text: true}, {Head: "threshold", Text: true}, {Head: "value"}, {Head: "", Text: true}}}
	for i := range v.Thresholds {
		x := &v.Thresholds[i]
		state := "kept"
		if x.Crossed {
			state = "crossed"
		}
		k := v.columnOr(x.Figure)
		t.Rows = append(t.Rows, Row{Series: v.series(x.Contender), Cells: []Cell{
			{Text: x.Contender}, {Text: x.Text}, figureCell(withUnit(k, x.Value), x.Value, ""), {Text: state},
		}})
	}
	if len(t.Rows) > 0 {
		s.Tables = []Table{t}
	}
	return s
}

// columnOr returns the column of a name, or a plain one if there is none.
func (v *view) columnOr(name string) *report.Column {
	if k := v.column(name); k != nil {
		return k
	}
	return &report.Column{Label: name, Scale: 1, Decimals: 3}
}
