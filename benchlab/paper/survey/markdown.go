package survey

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gatewayd/benchlab/engine"
)

// WriteMarkdown writes the table as a page shows it, the best of each column in
// bold.
func (s *Survey) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	head, rule := "| strategy |", "|---|"
	signals := slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Change != nil })
	if signals {
		head, rule = head+" signal |", rule+"---|"
	}
	for _, l := range s.Loads {
		for _, c := range l.Columns {
			head += fmt.Sprintf(" %s: %s |", l.Name, c)
			rule += "---:|"
		}
	}
	b.WriteString(head + "\n" + rule + "\n")
	for _, r := range s.Rows {
		line := fmt.Sprintf("| `%s` |", r.Chain)
		if signals {
			line += " " + r.Signal + " |"
		}
		for i, l := range s.Loads {
			for k := range l.Columns {
				text := shown(l.Columns[k], r.Cells[i][k].Mean)
				if text == shown(l.Columns[k], s.bestOf(i, k).Mean) {
					text = "**" + text + "**"
				}
				if r.Change != nil {
					text += " (" + signed(shown(l.Columns[k], r.Change[i][k])) + ")"
				}
				line += " " + text + " |"
			}
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\n")
	for _, l := range s.Loads {
		fmt.Fprintf(&b, "- %s: %s.\n", l.Name, l.About)
	}
	fmt.Fprintf(&b, "\nMeans over %s. Imbalance is the highest load of a worker over the mean. The best of each column is in bold.\n", seeds(len(s.Seeds)))
	if signals {
		b.WriteString("In brackets: the change against the first signal of the strategy.\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteJSON writes everything.
func (s *Survey) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// bestOf is the best cell of a column.
func (s *Survey) bestOf(load, column int) (best Cell) {
	sign := float64(s.Loads[load].best[column])
	for _, r := range s.Rows {
		c := r.Cells[load][column]
		if v, known := c.Mean.Value(); known && (best.Runs == nil || sign*v > sign*best.Mean.Or(math.Inf(-1))) {
			best = c
		}
	}
	return best
}

// signed gives what is above zero a plus, and what is too small to be seen neither.
func signed(text string) string {
	switch {
	case strings.Trim(text, "-0.") == "":
		return "±0"
	case strings.HasPrefix(text, "-"):
		return text
	}
	return "+" + text
}

func shown(column string, f engine.Figure) string {
	v, known := f.Value()
	switch {
	case !known:
		return "-"
	case strings.HasSuffix(column, "hit"):
		return fmt.Sprintf("%.3f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func seeds(n int) string {
	if n == 1 {
		return "1 seed"
	}
	return fmt.Sprintf("%d seeds", n)
}
