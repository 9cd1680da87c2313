package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// WriteText writes tables for people: under each of our figures the published one.
func WriteText(w io.Writer, tables []*Table) error {
	var b bytes.Buffer
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		t.text(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteJSON writes tables as one JSON document.
func WriteJSON(w io.Writer, tables []*Table) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Format string   `json:"format"`
		Source string   `json:"source"`
		Tables []*Table `json:"tables"`
	}{"gatewayd.benchlab.paper/1", source, tables})
}

const source = "CacheRoute, Huang Cheng, arXiv:2608.19677"

func (t *Table) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "Table %s: %s\n", t.Number, t.Title)
	for _, line := range t.Setup {
		fmt.Fprintf(b, "  %s\n", line)
	}
	b.WriteString("\n")
	rows := [][]string{{""}}
	for _, c := range t.Columns {
		rows[0] = append(rows[0], c.Name)
	}
	for _, r := range t.Rows {
		ours, published, any := []string{r.Name}, []string{"  published"}, false
		for k, c := range t.Columns {
			ours = append(ours, c.text(r.Cells[k].Ours.Mean.Or(math.NaN()), r.Cells[k].Ours.Half.Or(0), c.Top))
			if p := r.Cells[k].Published; p != nil {
				any = true
				published = append(published, c.text(p.Mean, p.Half, c.PublishedTop))
			} else {
				published = append(published, "")
			}
		}
		if rows = append(rows, ours); any {
			rows = append(rows, published)
		}
	}
	align(b, rows)
	if len(t.Ratios) > 0 {
		b.WriteString("\n")
	}
	for _, r := range t.Ratios {
		fmt.Fprintf(b, "%s: %s\n", r.Name, r.text())
	}
	fmt.Fprintf(b, "\nComparable: %s.\nNot comparable: %s.\n", t.Comparable, t.NotComparable)
	if len(t.Missing) > 0 {
		fmt.Fprintf(b, "Not run, since the catalog has no such strategy: %s.\n", strings.Join(t.Missing, ", "))
	}
}

// text writes a figure of the column, whose ladder ends at top.
func (c *Column) text(mean, half, top float64) string {
	if math.IsNaN(mean) {
		return "-"
	}
	scale, digits := 1.0, 2
	switch c.Unit {
	case Percent:
		scale, digits = 100, 1
	case QPS:
		digits = 0
	}
	out := fmt.Sprintf("%.*f", digits, mean*scale)
	switch {
	case c.Unit == QPS && mean >= top:
		return ">=" + out
	case c.Unit == QPS && mean == 0:
		return "none"
	}
	if half > 0 {
		out += fmt.Sprintf(" +-%.*f", digits, half*scale)
	}
	return out
}

func (r *Ratio) text() string {
	ours, known := r.Ours.Value()
	if !known {
		return "unknown, since one bears no step of the ladder"
	}
	within := fmt.Sprintf("%.2f or more", r.Least.Or(0))
	if most, bounded := r.Most.Value(); bounded {
		within = fmt.Sprintf("%.2f to %.2f", r.Least.Or(0), most)
	}
	out := fmt.Sprintf("%.2f (%s by the steps of the ladder)", ours, within)
	if r.Published > 0 {
		more := ""
		if r.AtLeast {
			more = " or more"
		}
		out += fmt.Sprintf(", published %.2f%s", r.Published, more)
	}
	return out
}

// align writes rows in columns, the first to the left and the others to the right.
func align(b *bytes.Buffer, rows [][]string) {
	var widths []int
	for _, r := range rows {
		for k, s := range r {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], utf8.RuneCountInString(s))
		}
	}
	for _, r := range rows {
		line := ""
		for k, s := range r {
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(s))
			if k == 0 {
				line = s + pad
			} else {
				line += "  " + pad + s
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
