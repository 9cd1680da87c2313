package page

import (
	"strings"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// misses is where prompt tokens came from, and what was possible.
func (v *view) misses() Section {
	s := Section{ID: "misses", Title: "Cache hits and misses", Lead: "Where the prompt tokens of completed requests came from. Only the first part was not computed again."}
	c := Chart{Kind: Bars, Title: "Prompt tokens by origin", Wide: true, X: Axis{Label: "prompt tokens, %", Percent: true},
		Alt:   "Stacked bars: shares of prompt tokens by origin for each contender; the table below has the numbers.",
		Parts: []string{"from the cache", "never seen before", "evicted", "on another worker", "stale view"}}
	t := Table{Caption: "Shares of the prompt tokens, %", Columns: []Column{{Head: "contender", Text: true}}}
	for _, p := range c.Parts {
		t.Columns = append(t.Columns, Column{Head: p})
	}
	share := &report.Column{Scale: 100, Decimals: 1}
	any := false
	for i := range v.Contenders {
		m := &v.Contenders[i].Misses
		bar, row := Bar{Series: i}, Row{Series: i, Cells: []Cell{{Text: v.Contenders[i].Name}}}
		for _, f := range []engine.Figure{m.Cached, m.Compulsory, m.Evicted, m.Elsewhere, m.Stale} {
			_, known := f.Value()
			any = any || known
			bar.Parts = append(bar.Parts, rounded(f.Or(0)))
			row.Cells = append(row.Cells, figureCell(in(share, f), f, ""))
		}
		c.Bars, t.Rows = append(c.Bars, bar), append(t.Rows, row)
	}
	if any {
		for _, b := range v.Bounds {
			if b.Figure == "kv_hit" {
				c.Rules = append(c.Rules, Rule{Axis: "x", At: rounded(b.Value), Label: spaced(b.Name)})
			}
		}
		s.Charts, s.Tables = []Chart{c}, []Table{t}
		s.Notes = []string{"Evicted: the worker once had them and lost them. On another worker: someone else in the fleet had them. Stale view: the gateway believed that this worker had them."}
	}
	if len(v.Bounds) > 0 {
		s.Tables = append(s.Tables, v.bounds())
		s.Notes = append(s.Notes, v.aboutBounds()...)
	}
	return s
}

// bounds shows how close the contenders come to what no strategy can pass.
func (v *view) bounds() Table {
	t := Table{Caption: "Share of the way from the baseline to the bound, %", Columns: []Column{{Head: "contender", Text: true}}}
	bound := Row{Series: -1, Cells: []Cell{{Text: "the bound itself"}}}
	for _, b := range v.Bounds {
		k := v.columnOr(b.Figure)
		t.Columns = append(t.Columns, Column{Group: spaced(b.Name), Head: k.Label})
		bound.Cells = append(bound.Cells, figureCell(withUnit(k, engine.Known(b.Value)), engine.Figure{}, ""))
	}
	share := &report.Column{Scale: 100, Decimals: 1}
	for i := range v.Contenders {
		row := Row{Series: i, Cells: []Cell{{Text: v.Contenders[i].Name}}}
		for _, b := range v.Bounds {
			var closed engine.Figure
			if i < len(b.Closed) {
				closed = b.Closed[i]
			}
			row.Cells = append(row.Cells, figureCell(in(share, closed), closed, ""))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, bound)
	return t
}

func (v *view) aboutBounds() []string {
	var notes []string
	seen := map[string]bool{}
	for _, b := range v.Bounds {
		if !seen[b.Name+b.About] {
			seen[b.Name+b.About] = true
			notes = append(notes, capital(spaced(b.Name))+": "+sentence(b.About))
		}
	}
	return notes
}

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// sentence ends with a full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// capital makes the first letter one.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
