package survey

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteMarkdown writes the table as a page shows it, the best of each column in
// bold.
func (s *Survey) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	head, rule := "| strategy |", "|---|"
	for _, l := range s.Loads {
		for _, c := range l.Columns {
			head += fmt.Sprintf(" %s: %s |", l.Name, c)
			rule += "---:|"
		}
	}
	b.WriteString(head + "\n" + rule + "\n")
	for _, r := range s.Rows {
		line := fmt.Sprintf("| `%s` |", r.Chain)
		for i, l := range s.Loads {
			for k := range l.Columns {
				text := shown(l.Columns[k], r.Cells[i][k])
				if text == shown(l.Columns[k], s.bestOf(i, k)) {
					text = "**" + text + "**"
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

func shown(column string, c Cell) string {
	v, known := c.Mean.Value()
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
