package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const gap = "  "

// WriteText writes the comparison as one table between a header, which says what
// was run, and footnotes, which say what the figures mean.
func (c *Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	c.Setup.header(&b)
	b.WriteString("\n")
	c.table(&b)
	b.WriteString("\n")
	c.notes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes one row a contender under two lines of heads. The best cells of a
// column are marked with a star.
func (c *Comparison) table(b *strings.Builder) {
	cols := columns()
	rows := make([][]string, len(c.Contenders))
	for i := range cols {
		best := cols[i].best(c.Contenders)
		for j := range c.Contenders {
			cell := cols[i].cell(&c.Contenders[j].Figures)
			if cell == best {
				cell += "*"
			} else {
				cell += " "
			}
			rows[j] = append(rows[j], cell)
		}
	}
	first := len("contender")
	for i := range c.Contenders {
		first = max(first, utf8.RuneCountInString(c.Contenders[i].Name))
	}
	widths := make([]int, len(cols))
	for i, col := range cols {
		widths[i] = len(col.head) + 1
		if i+1 == len(cols) || cols[i+1].group != col.group {
			widths[i] = max(widths[i], len(col.group)+1)
		}
		for _, row := range rows {
			widths[i] = max(widths[i], len(row[i]))
		}
	}
	groups, heads := make([]string, len(cols)), make([]string, len(cols))
	for i, col := range cols {
		if i+1 == len(cols) || cols[i+1].group != col.group {
			groups[i] = col.group + " "
		}
		heads[i] = col.head + " "
	}
	line(b, first, "", widths, groups)
	line(b, first, "contender", widths, heads)
	for i := range rows {
		line(b, first, c.Contenders[i].Name, widths, rows[i])
	}
}

// line writes a name, flush left, and cells, flush right.
func line(b *strings.Builder, first int, name string, widths []int, cells []string) {
	row := pad(name, first)
	for i, cell := range cells {
		row += gap + strings.Repeat(" ", widths[i]-len(cell)) + cell
	}
	b.WriteString(strings.TrimRight(row, " ") + "\n")
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
