package paper

import (
	"bytes"
	"strings"
	"testing"
)

// TestText shows ours, published ones below, what is censored, and ratios.
func TestText(t *testing.T) {
	bed := testbed{ladder: []float64{30, 60, 100}, end: 60}
	table := &Table{
		Number: "9", Title: "an example", Setup: []string{"assumed"}, ladder: bed.ladder, Missing: []string{"Other"},
		Columns:    []Column{{Name: "hit", Unit: Percent}, capacities("cap", bed), {Name: "p99", Unit: Seconds}},
		Comparable: "this", NotComparable: "that",
	}
	table.add("A", "a", []Published{{0.5, 0.01}, {30, 0}, {2, 0}})
	table.add("B", "b", []Published{{0.7, 0}, {60, 0}})
	table.add("C", "c", nil)
	for r, row := range [][][]float64{{{0.5, 0.6}, {30, 60}, {1, 1}}, {{0.7, 0.7}, {100, 100}, {2, 2}}, {{0.1, 0.1}, {0, 0}, {1, 3}}} {
		for k, values := range row {
			table.Rows[r].Cells[k].Ours = estimate(values)
		}
	}
	table.Ratios = []Ratio{table.ratio("B over A", table.row("B"), table.row("A"), 1), table.ratio("A over C", table.row("A"), table.row("C"), 1)}
	var b bytes.Buffer
	if err := WriteText(&b, []*Table{table}); err != nil {
		t.Fatal(err)
	}
	const want = `Table 9: an example
  assumed

                    hit        cap          p99
A           55.0 +-63.5  45 +-191         1.00
  published  50.0 +-1.0         30         2.00
B                  70.0      >=100         2.00
  published        70.0       >=60
C                  10.0       none  2.00 +-12.71

B over A: 2.22 (1.25 or more by the steps of the ladder), published 2.00 or more
A over C: unknown, since one bears no step of the ladder

Comparable: this.
Not comparable: that.
Not run, since the catalog has no such strategy: Other.
`
	squeeze := func(s string) string {
		var out []string
		for line := range strings.Lines(s) {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(out, "\n")
	}
	if squeeze(b.String()) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	for _, line := range strings.Split(b.String(), "\n")[3:9] {
		if len(line) > len("            ")+3*16 {
			t.Errorf("columns are not aligned: %q", line)
		}
	}
}
