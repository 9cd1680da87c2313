package page

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// Sweep makes the report of a sweep over one condition.
func Sweep(s *report.Sweep) *Page {
	p := &Page{Title: fmt.Sprintf("benchlab: sweep over %s, %s", s.Over, count(len(s.Contenders), "contender")), Cautions: s.Warnings, Summary: bears(s)}
	if len(p.Summary) == 0 {
		p.Summary = []string{fmt.Sprintf("How %s change with %s.", count(len(s.Contenders), "contender"), s.Label)}
		if len(s.Contenders) == 1 {
			p.Summary = []string{fmt.Sprintf("How %s changes with %s.", s.Contenders[0].Name, s.Label)}
		}
	}
	for i := range s.Contenders {
		p.Series = append(p.Series, Series{Name: s.Contenders[i].Name})
	}
	series := func(name string) int { return seriesIn(s, name) }
	p.add(capacity(s, series), timing(s.Timing, series))
	if s.Setup != nil {
		p.Facts = run(s.Setup, s.Seeds)
		p.add(traffic(s.Setup), origin(s.Command, s.Version, s.Setup))
	}
	return p
}

func seriesIn(s *report.Sweep, name string) int {
	for i := range s.Contenders {
		if s.Contenders[i].Name == name {
			return i
		}
	}
	return -1
}

// capacity is how the contenders bear a growing condition; series finds the index
// that each of them has on the page.
func capacity(s *report.Sweep, series func(name string) int) Section {
	out := Section{ID: "capacity", Title: "Sweep over " + s.Over, Lead: "Means of " + count(len(s.Seeds), "seed") + " at each value."}
	all := report.Columns()
	for _, name := range []string{"ttft.p99", "ttft.mean", "goodput", "kv_hit", "tpot.mean", "failed", "energy"} {
		i := slices.IndexFunc(all, func(k report.Column) bool { return k.Name == name })
		if i < 0 {
			continue
		}
		if c, any := sweepChart(s, &all[i], series); any {
			out.Charts = append(out.Charts, c)
		}
	}
	if t, any := capacityTable(s, series); any {
		out.Title = "Capacity"
		out.Lead += " Capacity is the largest load at which p99 of TTFT keeps the SLO and at most 5 % of the requests fail, found by a ladder of loads and bisection."
		out.Tables = []Table{t}
	}
	return out
}

// sweepChart draws one figure over the condition; false if nobody knows it.
func sweepChart(s *report.Sweep, k *report.Column, series func(string) int) (Chart, bool) {
	c := Chart{Kind: Lines, Title: capital(k.Label) + " over " + s.Over, X: Axis{Label: s.Label, Zero: true}, Y: Axis{Label: k.Unit, Zero: true}, Alt: k.Label + " of each contender over " + s.Label + "."}
	low, high := 0.0, 0.0
	for i := range s.Contenders {
		l := Line{Series: series(s.Contenders[i].Name), Dots: true}
		for _, p := range s.Contenders[i].Points {
			f := p.Figures[k.Name]
			l.X, l.Y = append(l.X, rounded(p.At)), append(l.Y, scaled(k, f))
			if v, known := f.Value(); known && v > 0 {
				low, high = least(low, v), max(high, v)
			}
		}
		if len(l.X) > 0 && l.Series >= 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	if k.Name == "ttft.p99" || k.Name == "ttft.mean" {
		c.Y.Log = high > 20*low
		if s.Setup != nil && k.Name == "ttft.p99" {
			c.Rules = []Rule{{Axis: "y", At: rounded(s.Setup.TTFT), Label: "SLO"}}
		}
	}
	return c, high > 0
}

// least is the smaller of two numbers of which 0 is none.
func least(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func capacityTable(s *report.Sweep, series func(string) int) (Table, bool) {
	t := Table{Caption: "Largest load within the SLO", Columns: []Column{{Head: "contender", Text: true}, {Head: "req/s"}, {Head: "rate scale"}, {Head: "fails at rate scale"}}}
	k := &report.Column{Scale: 1, Decimals: 3}
	for i := range s.Contenders {
		c := s.Contenders[i].Capacity
		if c == nil {
			continue
		}
		row := Row{Series: series(s.Contenders[i].Name), Cells: []Cell{{Text: s.Contenders[i].Name}}}
		for _, f := range []engine.Figure{c.Rate, c.At, c.Fails} {
			row.Cells = append(row.Cells, figureCell(in(k, f), f, ""))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, len(t.Rows) > 0
}

// bears says how much load the contenders bear; nothing if that was not looked
// for.
func bears(s *report.Sweep) []string {
	best, most, searched := -1, 0.0, false
	var others []string
	for i := range s.Contenders {
		if c := s.Contenders[i].Capacity; c != nil {
			searched = true
			if v, known := c.Rate.Value(); known && v > most {
				best, most = i, v
			}
		}
	}
	if !searched {
		return nil
	}
	if best < 0 {
		return []string{"No contender keeps the SLO, not even at the smallest load."}
	}
	for i := range s.Contenders {
		c := s.Contenders[i].Capacity
		if c == nil || i == best {
			continue
		}
		if v, known := c.Rate.Value(); known {
			others = append(others, fmt.Sprintf("%s %s req/s", s.Contenders[i].Name, figures3(v)))
		} else {
			others = append(others, s.Contenders[i].Name+" none")
		}
	}
	text := fmt.Sprintf("%s bears the largest load within the SLO, %s req/s.", s.Contenders[best].Name, figures3(most))
	if len(others) > 0 {
		text += " The others: " + strings.Join(others, ", ") + "."
	}
	return []string{text}
}
