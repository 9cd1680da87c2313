package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

// TestPages runs testdata/*.txt: "comparison" and "sweep" print the page of a
// fixed example, "empty" that of a result with nothing in it, and "summary" the
// sentences for contenders that stand as the arguments say, the first one being
// the baseline.
func TestPages(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "comparison":
				return outline(Comparison(example()))
			case "sweep":
				return outline(Sweep(exampleSweep([]string{"round-robin", "sticky", "joule"})))
			case "empty":
				return outline(Comparison(&report.Comparison{})) + outline(Sweep(&report.Sweep{}))
			case "summary":
				return strings.Join(Comparison(stand(d)).Summary, "\n") + "\n"
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

// stand is the example with other verdicts on the judge, no capacity and as
// many contenders as there are arguments and the baseline.
func stand(d *datadriven.TestData) *report.Comparison {
	c := example()
	c.Capacity = nil
	c.Contenders = c.Contenders[:1+len(d.CmdArgs)]
	if d.HasArg("alone") {
		c.Contenders = c.Contenders[:1]
	}
	for i := range c.Contenders[1:] {
		arg := d.CmdArgs[i].Key
		x := c.Contenders[i+1].Figures
		x[judge].Difference.Verdict = report.Standing(strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(arg, "-failing"), "-slower"), "_", " "))
		x["failed"].Difference.Verdict = report.Indistinguishable
		if strings.HasSuffix(arg, "-slower") {
			x["goodput"].Difference.Verdict = report.Worse
		}
		if strings.HasSuffix(arg, "-failing") {
			x["failed"].Difference.Verdict = report.Worse
		}
	}
	return c
}

// outline writes a page as text.
func outline(p *Page) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s", p.Title)
	for _, s := range p.Summary {
		line("%s", s)
	}
	for _, s := range p.Cautions {
		line("! %s", s)
	}
	facts := func(all []Fact) {
		for _, f := range all {
			line("%s: %s", f.Name, f.Value)
		}
	}
	facts(p.Facts)
	for _, s := range looks(p.Series) {
		line("series %s: colour %d, dash %s", s.Name, s.Colour, s.Dash)
	}
	for _, s := range p.Sections {
		line("\n## %s (#%s) %s", s.Title, s.ID, s.Mark)
		if s.Lead != "" {
			line("%s", s.Lead)
		}
		facts(s.Facts)
		for i := range s.Charts {
			drawing(&s.Charts[i], line)
		}
		for _, t := range s.Tables {
			tableau(t, line)
		}
		for _, c := range s.Code {
			line("$ %s", c)
		}
		if s.NotesTitle != "" {
			line("%s", s.NotesTitle)
		}
		for _, n := range s.Notes {
			line("- %s", n)
		}
	}
	return b.String()
}

// drawing tells what a chart shows.
func drawing(c *Chart, line func(string, ...any)) {
	line("[%s] %s | x: %s | y: %s | z: %s | %s", c.Kind, c.Title, c.X.Label, c.Y.Label, c.Z.Label, c.Note)
	for _, l := range c.Lines {
		middle := len(l.X) / 2
		line("  line %d: %d points, %v %v in the middle", l.Series, len(l.X), l.X[middle], l.Y[middle])
	}
	for _, r := range c.Intervals {
		line("  interval %d: %v from %v to %v, %q, unsure: %v", r.Series, r.Value, r.Low, r.High, r.Text, r.Unsure)
	}
	for _, b := range c.Bars {
		line("  bar %d: %v of %s", b.Series, b.Parts, strings.Join(c.Parts, ", "))
	}
	for _, g := range c.Grids {
		line("  grid %d: %d rows, %d values up to %v, %v s", g.Series, g.Rows, len(g.Values), slices.Max(g.Values), g.Span)
	}
	for _, r := range c.Rules {
		line("  rule %s=%v %s", r.Axis, r.At, r.Label)
	}
}

// tableau writes a table, cells apart by bars.
func tableau(t Table, line func(string, ...any)) {
	line("[table] %s", t.Caption)
	var heads []string
	for _, c := range t.Columns {
		heads = append(heads, strings.TrimSpace(c.Group+" "+c.Head))
	}
	line("  %s", strings.Join(heads, " | "))
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r.Cells {
			text := c.Text + c.Mark()
			if c.Interval != "" {
				text += " (" + c.Interval + ")"
			}
			cells = append(cells, text)
		}
		line("  %s", strings.Join(cells, " | "))
	}
}

// TestRectangular holds that every row has a cell for each column, and every line
// as many of one as of the other.
func TestRectangular(t *testing.T) {
	for _, p := range []*Page{Comparison(example()), Sweep(exampleSweep([]string{"a", "b", "c"})), Comparison(example("alone"))} {
		for _, s := range p.Sections {
			for _, table := range s.Tables {
				for _, r := range table.Rows {
					if len(r.Cells) != len(table.Columns) {
						t.Errorf("%s, %s: %d cells, %d columns", s.ID, table.Caption, len(r.Cells), len(table.Columns))
					}
				}
			}
			for _, c := range s.Charts {
				for _, l := range c.Lines {
					if len(l.X) != len(l.Y) {
						t.Errorf("%s: %d x, %d y", c.Title, len(l.X), len(l.Y))
					}
				}
				for _, g := range c.Grids {
					if g.Rows == 0 || len(g.Values)%g.Rows != 0 {
						t.Errorf("%s: %d values in %d rows", c.Title, len(g.Values), g.Rows)
					}
				}
				for _, b := range c.Bars {
					if len(b.Parts) != len(c.Parts) {
						t.Errorf("%s: %d parts, %d names", c.Title, len(b.Parts), len(c.Parts))
					}
				}
			}
		}
	}
}

// TestNumbers writes numbers as people do.
func TestNumbers(t *testing.T) {
	seconds := &report.Column{Unit: "s", Scale: 1, Decimals: 3}
	shares := &report.Column{Unit: "%", Scale: 100, Decimals: 1}
	for got, want := range map[string]string{
		in(seconds, engine.Figure{}):                       "-",
		withUnit(seconds, engine.Figure{}):                 "-",
		withUnit(seconds, engine.Known(1234.5)):            "1,234.500\u00a0s",
		signed(seconds, engine.Known(0.0001)):              "0.000",
		signed(seconds, engine.Known(-0.5)):                "−0.500",
		signed(shares, engine.Known(0.123)):                "+12.3",
		decimal(-1234567, 0):                               "−1,234,567",
		decimal(-0.01, 1):                                  "0.0",
		figures3(0.012345) + figures3(12345) + figures3(0): "0.012312,3450",
		percent(0.5) + percent(0.1234):                     "50\u00a0%12.3\u00a0%",
		count(1, "seed") + count(1200, "seed"):             "1 seed1,200 seeds",
		shell([]string{"a", "it's", "x<1", ""}):            `a 'it'\''s' 'x<1' ''`,
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
