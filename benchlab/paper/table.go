package paper

import (
	"math"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/stats"
)

// Table is one table of the study, ours beside the published one.
type Table struct {
	Number  string   `json:"number"` // of the paper's table
	Title   string   `json:"title"`
	Setup   []string `json:"setup"` // what was assumed
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	Ratios  []Ratio  `json:"ratios,omitempty"`
	// Comparable and NotComparable say what the two have in common.
	Comparable    string   `json:"comparable"`
	NotComparable string   `json:"not_comparable"`
	Missing       []string `json:"missing,omitempty"` // published rows that the catalog has no strategy for

	ladder []float64
}

// Unit is what a column counts.
type Unit string

// Units of columns.
const (
	Percent Unit = "%"   // shares of 1, shown as percentages
	Times   Unit = "x"   // multiples
	Seconds Unit = "s"   // s
	QPS     Unit = "QPS" // requests per second, steps of a ladder
)

// Column is one figure of every row.
type Column struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Top and PublishedTop are the last steps of our ladder and of the published
	// one: a capacity that reaches them is only known to be at least that.
	Top          float64 `json:"top,omitempty"`
	PublishedTop float64 `json:"published_top,omitempty"`
}

// capacities is a column of capacities on a testbed.
func capacities(name string, t testbed) Column {
	return Column{Name: name, Unit: QPS, Top: t.ladder[len(t.ladder)-1], PublishedTop: t.end}
}

// Row is a policy, or another case, with a cell for each column.
type Row struct {
	Name  string `json:"name"`
	Chain string `json:"chain,omitempty"` // as benchlab compare takes it
	Cells []Cell `json:"cells"`
}

// Cell is one figure.
type Cell struct {
	Ours      Estimate   `json:"ours"`
	Published *Published `json:"published,omitempty"`
}

// Estimate is a mean over seeds; the half width is that of the 95 % interval by
// Student's t, unknown with one seed.
type Estimate struct {
	Mean engine.Figure   `json:"mean"`
	Half engine.Figure   `json:"half"`
	Runs []engine.Figure `json:"runs"` // by seed
}

// Published is a figure as published. Half is 0 where none was given.
type Published struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half,omitempty"`
}

// Ratio compares the capacities of two rows.
type Ratio struct {
	Name string        `json:"name"`
	Ours engine.Figure `json:"ours"`
	// Least and Most bound ours by the steps of the ladder: a capacity may lie
	// anywhere up to the next step. Most is unknown where that is not bounded.
	Least     engine.Figure `json:"least"`
	Most      engine.Figure `json:"most"`
	Published float64       `json:"published"` // 0: unknown
	AtLeast   bool          `json:"at_least"`  // the published ladder ended before the capacity
}

// figure is unknown if it is no number.
func figure(v float64) engine.Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return engine.Figure{}
	}
	return engine.Known(v)
}

const outside = 0.05 // of the 95 % interval

func estimate(values []float64) Estimate {
	e := stats.Of(stats.Sample{Values: values}, float64(len(values)))
	out := Estimate{Mean: figure(e.Mean)}
	if len(values) > 1 {
		out.Half = figure(e.Half(outside))
	}
	for _, v := range values {
		out.Runs = append(out.Runs, figure(v))
	}
	return out
}

// ratio compares the capacities of two rows in a column.
func (t *Table) ratio(name string, a, b *Row, column int) Ratio {
	mean := func(r *Row, of func(float64) float64) float64 {
		sum := 0.0
		for _, v := range r.Cells[column].Ours.Runs {
			sum += of(v.Or(math.NaN())) / float64(len(r.Cells[column].Ours.Runs))
		}
		return sum
	}
	same := func(v float64) float64 { return v }
	next := func(v float64) float64 { return above(t.ladder, v) }
	r := Ratio{Name: name, Ours: figure(mean(a, same) / mean(b, same)), Least: figure(mean(a, same) / mean(b, next)), Most: figure(mean(a, next) / mean(b, same))}
	if p, q := a.Cells[column].Published, b.Cells[column].Published; p != nil && q != nil {
		r.Published, r.AtLeast = p.Mean/q.Mean, p.Mean >= t.Columns[column].PublishedTop
	}
	return r
}

// row finds a row by its name.
func (t *Table) row(name string) *Row {
	for i := range t.Rows {
		if t.Rows[i].Name == name {
			return &t.Rows[i]
		}
	}
	return nil
}
