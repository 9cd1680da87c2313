package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gatewayd/benchlab/engine"
)

const gap = "  "

// columns of the first two tables and of the third; the rest is in JSON and CSV.
func mainColumns() []string {
	return []string{"kv_hit", "ttft.mean", "ttft.p50", "ttft.p99", "tpot.mean", "goodput", "imbalance.tokens", "energy"}
}

func otherColumns() []string {
	return []string{"ttft.p99_all", "tpot.p99", "e2e.mean", "within_slo", "failed", "throughput",
		"imbalance.requests", "prefill_util", "carbon", "churn"}
}

// WriteText writes the comparison: a header, which says what was run, tables, and
// notes, which say what the figures mean.
func (c *Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	c.header(&b)
	b.WriteString("\n")
	c.figures(&b, mainColumns())
	c.differences(&b, mainColumns())
	c.others(&b, otherColumns())
	c.misses(&b)
	c.bounds(&b)
	c.protection(&b, mainColumns())
	if c.Capacity != nil {
		c.Capacity.capacity(&b)
	}
	c.notes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// pick returns the named columns, with enough decimals for what they show.
func (c *Comparison) pick(names []string) []Column {
	var out []Column
	for _, n := range names {
		if i := slices.IndexFunc(c.Figures, func(k Column) bool { return k.Name == n }); i >= 0 {
			k := c.Figures[i]
			k.Decimals = k.fitting(c.Contenders)
			out = append(out, k)
		}
	}
	return out
}

// fitting is how many decimals show three digits of the largest mean; at least
// what the column has.
func (c *Column) fitting(contenders []Contender) int {
	const digits, most = 3, 6
	largest := 0.0
	for i := range contenders {
		largest = max(largest, math.Abs(contenders[i].Figures[c.Name].Mean.Or(0)*c.Scale))
	}
	if largest == 0 {
		return c.Decimals
	}
	return min(max(c.Decimals, digits-1-int(math.Floor(math.Log10(largest)))), max(c.Decimals, most))
}

// heads are the heads of the columns.
func heads(cols []Column) []head {
	out := make([]head, len(cols))
	for i, k := range cols {
		out[i] = head{k.Label, k.Unit}
	}
	return out
}

// figures writes means with their intervals and standings.
func (c *Comparison) figures(b *strings.Builder, names []string) {
	cols := c.pick(names)
	g := grid{corner: "contender", heads: heads(cols)}
	for i := range c.Contenders {
		var row []cell
		for k := range cols {
			e := c.Contenders[i].Figures[cols[k].Name]
			row = append(row, cell{cols[k].number(e.Mean), cols[k].half(e.Low, e.High), e.mark()})
		}
		g.add(c.Contenders[i].title(), row...)
	}
	g.write(b)
	b.WriteString(c.legend() + "\n\n")
}

// title is the contender's name, and that it is the baseline.
func (c *Contender) title() string {
	if c.Baseline {
		return c.Name + " (baseline)"
	}
	return c.Name
}

func (e *Estimate) mark() string {
	if e.Difference == nil {
		return ""
	}
	return e.Difference.Verdict.Mark()
}

func (c *Comparison) legend() string {
	s := &c.Statistics
	text := fmt.Sprintf("mean of %s, ± half of the %v %% interval", count(len(s.Seeds), "seed"), s.Confidence*100)
	if c.compares() {
		text += fmt.Sprintf("; against %s: + better, - worse, ~ not distinguishable", c.Baseline().Name)
	}
	return text
}

// compares tells whether there is anything to compare.
func (c *Comparison) compares() bool { return len(c.Contenders) > 1 && c.Baseline() != nil }

// differences writes how far contenders are from the baseline, and how far they
// would have to be for this comparison to notice.
func (c *Comparison) differences(b *strings.Builder, names []string) {
	if !c.compares() {
		return
	}
	cols := c.pick(names)
	g := grid{corner: "minus " + c.Baseline().Name, heads: heads(cols)}
	least := make([]cell, len(cols))
	for i := range c.Contenders {
		if c.Contenders[i].Baseline {
			continue
		}
		var row []cell
		for k := range cols {
			d := c.Contenders[i].Figures[cols[k].Name].Difference
			if d == nil {
				d = &Difference{Verdict: Unknown}
			}
			row = append(row, cell{signed(cols[k].number(d.Mean)), cols[k].half(d.Low, d.High), d.Verdict.Mark()})
		}
		g.add(c.Contenders[i].Name, row...)
	}
	for k := range cols {
		least[k].value = cols[k].number(c.detectable(cols[k].Name))
	}
	g.add("could have been seen", least...)
	g.write(b)
	together := fmt.Sprintf("%v %% intervals", c.Statistics.Confidence*100)
	if n := len(c.Contenders) - 1; n > 1 {
		together = fmt.Sprintf("intervals that hold for all %s together", count(n, "contender"))
	}
	fmt.Fprintf(b, "%s; last line: the least true difference that would be seen with a probability of %v %%, worst contender\n\n",
		together, c.Statistics.Power*100)
}

// detectable is the largest of the contenders' smallest visible differences.
func (c *Comparison) detectable(name string) engine.Figure {
	var most engine.Figure
	for i := range c.Contenders {
		if d := c.Contenders[i].Figures[name].Difference; d != nil {
			if v, known := d.Detectable.Value(); known && v >= most.Or(0) {
				most = engine.Known(v)
			}
		}
	}
	return most
}

func signed(number string) string {
	if number == "-" || strings.HasPrefix(number, "-") || strings.Trim(number, "0.") == "" {
		return number
	}
	return "+" + number
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + thing + "s"
}
