package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"gatewayd/benchlab/engine"
)

// WriteCSV writes one line for each contender, figure and seed, and one with the
// seed "all" for the mean, its interval and the difference to the baseline. Cells
// of unknown figures are empty.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"contender", "figure", "seed", "value", "low", "high",
		"difference", "difference_low", "difference_high", "p", "detectable", "verdict"})
	for i := range c.Contenders {
		k := &c.Contenders[i]
		for _, col := range c.Figures {
			e := k.Figures[col.Name]
			for s, v := range e.Seeds {
				out.Write([]string{k.Name, col.Name, strconv.FormatUint(c.Statistics.Seeds[s], 10), decimal(v), "", "", "", "", "", "", "", ""})
			}
			line := []string{k.Name, col.Name, "all", decimal(e.Mean), decimal(e.Low), decimal(e.High), "", "", "", "", "", ""}
			if d := e.Difference; d != nil {
				line = append(line[:6], decimal(d.Mean), decimal(d.Low), decimal(d.High), decimal(d.P), decimal(d.Detectable), string(d.Verdict))
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

// WriteCSV writes one line for each contender, value of the condition and figure.
func (s *Sweep) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"contender", s.Over, "offered_rps", "by_bisection", "meets_slo", "figure", "value"})
	for i := range s.Contenders {
		for _, p := range s.Contenders[i].Points {
			for _, col := range Columns() {
				out.Write([]string{s.Contenders[i].Name, number(p.At), number(p.Rate), strconv.FormatBool(p.Refined),
					strconv.FormatBool(p.Meets), col.Name, decimal(p.Figures[col.Name])})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// decimal writes a figure; "" if it is unknown.
func decimal(f engine.Figure) string {
	v, known := f.Value()
	if !known {
		return ""
	}
	return number(v)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
