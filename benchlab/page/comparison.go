package page

import (
	"slices"
	"strings"

	"gatewayd/benchlab/report"
)

// Comparison makes the report of a comparison, and of the capacity that was
// looked for with it.
func Comparison(c *report.Comparison) *Page {
	v := &view{c}
	p := &Page{Title: "benchlab: " + c.Setup.Trace.Name + ", " + count(len(c.Contenders), "contender"), Summary: v.summary(), Cautions: v.cautions(), Facts: run(&c.Setup, c.Statistics.Seeds)}
	for i := range c.Contenders {
		p.Series = append(p.Series, Series{Name: c.Contenders[i].Name, Baseline: c.Contenders[i].Baseline})
	}
	p.add(v.thresholds(), v.figures(), v.differences(), v.latency())
	if c.Capacity != nil {
		p.add(capacity(c.Capacity, v.series))
	}
	p.add(v.load(), v.misses(), v.electricity(), v.failures(), v.decisions(), timing(c.Timing, v.series), traffic(&c.Setup), v.statistics(), origin(c.Command, c.Version, &c.Setup))
	return p
}

// add adds the sections that have something to show.
func (p *Page) add(sections ...Section) {
	for _, s := range sections {
		if len(s.Charts)+len(s.Tables)+len(s.Facts)+len(s.Code)+len(s.Notes) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
}

// view is a comparison as the sections look at it.
type view struct{ *report.Comparison }

// column returns the column of a name, nil if there is none.
func (v *view) column(name string) *report.Column {
	i := slices.IndexFunc(v.Figures, func(k report.Column) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &v.Figures[i]
}

// columns returns those of the named ones that there are.
func (v *view) columns(names ...string) []*report.Column {
	var out []*report.Column
	for _, n := range names {
		if k := v.column(n); k != nil {
			out = append(out, k)
		}
	}
	return out
}

// columnsOf returns the columns of a group.
func (v *view) columnsOf(g figureGroup) []*report.Column {
	var out []*report.Column
	for i := range v.Figures {
		if groupOf(v.Figures[i].Name) == g {
			out = append(out, &v.Figures[i])
		}
	}
	return out
}

// figureGroup says in which table a figure stands.
type figureGroup int

const (
	ofLatency figureGroup = iota
	ofService
	ofFleet
	ofElectricity
)

func groupOf(name string) figureGroup {
	switch base, _, _ := strings.Cut(name, "."); base {
	case "ttft", "tpot", "e2e":
		return ofLatency
	case "goodput", "within_slo", "failed", "throughput":
		return ofService
	case "energy", "carbon":
		return ofElectricity
	}
	return ofFleet
}

// series returns the index of a contender, -1 if there is none of that name.
func (v *view) series(name string) int {
	return slices.IndexFunc(v.Contenders, func(c report.Contender) bool { return c.Name == name })
}

// compares tells whether there is a baseline and something beside it.
func (v *view) compares() bool { return len(v.Contenders) > 1 && v.Baseline() != nil }

// others returns the indices of all contenders but the baseline.
func (v *view) others() []int {
	var out []int
	for i := range v.Contenders {
		if !v.Contenders[i].Baseline {
			out = append(out, i)
		}
	}
	return out
}

// difference returns how contender i differs from the baseline; unknown if
// nobody compared them.
func (v *view) difference(i int, name string) report.Difference {
	if d := v.Contenders[i].Figures[name].Difference; d != nil {
		return *d
	}
	return report.Difference{Verdict: report.Unknown}
}
