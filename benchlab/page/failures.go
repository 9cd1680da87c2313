package page

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/benchlab/report"
)

// failures is what was made to go wrong, and what failed.
func (v *view) failures() Section {
	s := Section{ID: "failures", Title: "Faults and failures"}
	if planned := v.Setup.Options.Faults; len(planned) > 0 {
		s.Facts = []Fact{{"on the schedule", strings.Join(planned, ", ")}}
	}
	kinds, counts := v.failed()
	t := Table{Caption: "Failed requests by kind, all seeds together", Columns: []Column{{Head: "contender", Text: true}}}
	for _, k := range kinds {
		t.Columns = append(t.Columns, Column{Head: spaced(k)})
	}
	for i := range v.Contenders {
		row := Row{Series: i, Cells: []Cell{{Text: v.Contenders[i].Name}}}
		for _, k := range kinds {
			n := counts[i][k]
			row.Cells = append(row.Cells, Cell{Text: decimal(float64(n), 0), Sort: float64(n)})
		}
		t.Rows = append(t.Rows, row)
		s.Notes = append(s.Notes, unmade(&v.Contenders[i])...)
	}
	if len(kinds) > 0 {
		s.Tables = []Table{t}
	} else {
		s.Lead = "No request failed."
	}
	if t := v.happened(); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	if len(s.Facts)+len(s.Tables)+len(s.Notes) == 0 {
		s.Notes = []string{"No faults were on a schedule."}
	}
	return s
}

// happened lists the faults of the first seed, which all contenders share.
func (v *view) happened() Table {
	t := Table{Columns: []Column{{Head: "fault", Text: true}, {Head: "at, s"}, {Head: "", Text: true}}}
	if len(v.Contenders) == 0 || len(v.Contenders[0].Runs) == 0 {
		return t
	}
	run := &v.Contenders[0].Runs[0]
	t.Caption = fmt.Sprintf("Faults with seed %d", run.Seed)
	for _, f := range run.Faults {
		state := "began"
		if f.Over {
			state = "over"
		}
		at := f.At.Seconds()
		t.Rows = append(t.Rows, Row{Series: -1, Cells: []Cell{{Text: f.Text}, figureCell(figures3(at), known(at), ""), {Text: state}}})
	}
	return t
}

// failed counts failed requests by kind, for each contender.
func (v *view) failed() (kinds []string, counts []map[string]int) {
	for i := range v.Contenders {
		counts = append(counts, map[string]int{})
		for _, r := range v.Contenders[i].Runs {
			for _, f := range r.Figures.Failures {
				counts[i][f.Kind] += f.Count
				if !slices.Contains(kinds, f.Kind) {
					kinds = append(kinds, f.Kind)
				}
			}
		}
	}
	slices.Sort(kinds)
	return kinds, counts
}

// unmade tells which plans were not made.
func unmade(c *report.Contender) []string {
	failed, first := map[string]int{}, map[string]string{}
	var names, notes []string
	for _, r := range c.Runs {
		for _, s := range r.Strategies {
			if s.Failed == 0 {
				continue
			}
			if failed[s.Name] == 0 {
				names = append(names, s.Name)
				first[s.Name] = s.FirstError
			}
			failed[s.Name] += s.Failed
		}
	}
	for _, n := range names {
		notes = append(notes, fmt.Sprintf("%s: %s of %s not made, the first because: %s", c.Name, count(failed[n], "plan"), n, first[n]))
	}
	return notes
}
