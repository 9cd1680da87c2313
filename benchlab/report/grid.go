package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatewayd/benchlab/engine"
)

// grid is a table whose first column has names, flush left.
type grid struct {
	corner string // the head of the names
	heads  []head
	names  []string
	rows   [][]cell
}

// head is two lines over a column.
type head struct{ name, unit string }

// cell is a number, half the width of its interval, and a mark.
type cell struct{ value, half, mark string }

// number writes a figure in its column's unit; "-" if it is unknown.
func (c *Column) number(f engine.Figure) string {
	v, known := f.Value()
	if !known {
		return "-"
	}
	text := strconv.FormatFloat(v*c.Scale, 'f', c.Decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// half writes half the width of an interval; "" if it is unknown.
func (c *Column) half(low, high engine.Figure) string {
	l, ok := low.Value()
	h, ok2 := high.Value()
	if !ok || !ok2 {
		return ""
	}
	return "±" + c.number(engine.Known(math.Abs(h-l)/2))
}

// add adds a row.
func (g *grid) add(name string, cells ...cell) {
	g.names = append(g.names, name)
	g.rows = append(g.rows, cells)
}

// write writes the table; the parts of the cells stand under each other.
func (g *grid) write(b *strings.Builder) {
	first := utf8.RuneCountInString(g.corner)
	for _, n := range g.names {
		first = max(first, utf8.RuneCountInString(n))
	}
	type width struct{ value, half, mark, all int }
	widths := make([]width, len(g.heads))
	for i, h := range g.heads {
		w := &widths[i]
		for _, row := range g.rows {
			w.value = max(w.value, utf8.RuneCountInString(row[i].value))
			w.half = max(w.half, utf8.RuneCountInString(row[i].half))
			w.mark = max(w.mark, len(row[i].mark))
		}
		w.all = w.value
		if w.half > 0 {
			w.all += 1 + w.half
		}
		if w.mark > 0 {
			w.all += 1 + w.mark
		}
		wide := max(utf8.RuneCountInString(h.name), utf8.RuneCountInString(h.unit))
		w.value += max(0, wide-w.all)
		w.all = max(w.all, wide)
	}
	names, units := pad("", first), pad(g.corner, first)
	for i, h := range g.heads {
		names += gap + center(h.name, widths[i].all)
		units += gap + center(h.unit, widths[i].all)
	}
	fmt.Fprintf(b, "%s\n%s\n", strings.TrimRight(names, " "), strings.TrimRight(units, " "))
	for k, row := range g.rows {
		line := pad(g.names[k], first)
		for i, c := range row {
			w := widths[i]
			line += gap + strings.Repeat(" ", w.value-utf8.RuneCountInString(c.value)) + c.value
			if w.half > 0 {
				line += " " + pad(c.half, w.half)
			}
			if w.mark > 0 {
				line += " " + pad(c.mark, w.mark)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// center puts s in the middle of a width.
func center(s string, width int) string {
	left := max(0, width-utf8.RuneCountInString(s)) / 2
	return pad(strings.Repeat(" ", left)+s, width)
}

// pad fills s up to a width, counted in characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// thousands writes n with commas.
func thousands[T int | int64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
