package page

import (
	"fmt"
	"strings"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// figures is all figures with their intervals.
func (v *view) figures() Section {
	s := Section{ID: "figures", Title: "Figures",
		Lead: fmt.Sprintf("Means of %s; below each, its %s interval.", count(len(v.Statistics.Seeds), "seed"), percent(v.Statistics.Confidence))}
	if v.compares() {
		s.Lead += " Against " + v.Baseline().Name + ", the baseline: +" + space + "better, −" + space + "worse, ~" + space + "not distinguishable."
	}
	s.Tables = append(s.Tables, v.table("Latency", ofLatency), v.table("Service", ofService), v.table("Cache and balance", ofFleet))
	s.NotesTitle = "What they mean:"
	for i := range v.Figures {
		s.Notes = append(s.Notes, capital(v.Figures[i].Label)+": "+sentence(v.Figures[i].About))
	}
	return s
}

// table shows the figures of a group.
func (v *view) table(caption string, g figureGroup) Table {
	t := Table{Caption: caption, Columns: []Column{{Head: "contender", Text: true}}}
	cols := v.columnsOf(g)
	for _, k := range cols {
		t.Columns = append(t.Columns, heading(k, g == ofLatency))
	}
	for i := range v.Contenders {
		c := &v.Contenders[i]
		row := Row{Series: i, Cells: []Cell{{Text: c.Name}}}
		for _, k := range cols {
			e := c.Figures[k.Name]
			cell := figureCell(in(k, e.Mean), e.Mean, span(in(k, e.Low), in(k, e.High)))
			cell.Standing = standing(v.difference(i, k.Name).Verdict)
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// heading is the head of a figure's column; that of latencies has the time that
// is measured above the statistic.
func heading(k *report.Column, grouped bool) Column {
	c := Column{Head: k.Label}
	if first, rest, ok := strings.Cut(k.Label, " "); ok && grouped {
		c.Group, c.Head = first, rest
	}
	if k.Unit != "" {
		c.Head += ", " + k.Unit
	}
	return c
}

func figureCell(text string, f engine.Figure, interval string) Cell {
	value, known := f.Value()
	return Cell{Text: text, Interval: interval, Sort: rounded(value), Unknown: !known}
}

// standing is a verdict as a cell shows it.
func standing(v report.Standing) Standing {
	switch v {
	case report.Better:
		return Better
	case report.Worse:
		return Worse
	case report.Indistinguishable:
		return Same
	}
	return ""
}
