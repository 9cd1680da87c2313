package page

import (
	"gatewayd/benchlab/report"
)

// decisions is which strategy of a chain placed requests, and why.
func (v *view) decisions() Section {
	s := Section{ID: "decisions", Title: "Who decided", Lead: "Which strategy of each chain placed the requests, and the reason it gave; all seeds together."}
	t := Table{Caption: "Decisions", Columns: []Column{{Head: "contender", Text: true}, {Head: "strategy", Text: true}, {Head: "reason", Text: true}, {Head: "requests"}, {Head: "share, %"}}}
	share := &report.Column{Scale: 100, Decimals: 1}
	for i := range v.Contenders {
		rows, all := decided(&v.Contenders[i])
		for _, d := range rows {
			part := known(float64(d.count) / float64(all))
			t.Rows = append(t.Rows, Row{Series: i, Cells: []Cell{
				{Text: v.Contenders[i].Name}, {Text: d.strategy}, {Text: d.reason},
				figureCell(decimal(float64(d.count), 0), known(float64(d.count)), ""), figureCell(in(share, part), part, ""),
			}})
		}
	}
	if len(t.Rows) > 0 {
		s.Tables = []Table{t}
	}
	return s
}

type decision struct {
	strategy, reason string
	count            int
}

// decided adds up the decisions of all runs, in the order they are first met.
func decided(c *report.Contender) (rows []decision, all int) {
	at := map[[2]string]int{}
	for _, r := range c.Runs {
		for _, d := range r.Decisions {
			key := [2]string{d.Strategy, d.Reason}
			if _, ok := at[key]; !ok {
				at[key] = len(rows)
				rows = append(rows, decision{strategy: d.Strategy, reason: d.Reason})
			}
			rows[at[key]].count += d.Count
			all += d.Count
		}
	}
	return rows, max(all, 1)
}
