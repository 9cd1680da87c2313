package report

import (
	"fmt"
	"io"
	"strings"

	"gatewayd/benchlab/engine"
)

// WriteText writes the sweep: one table a figure, with a row for each contender
// and a column for each value of the condition.
func (s *Sweep) WriteText(w io.Writer) error {
	var b strings.Builder
	if s.Setup != nil {
		s.Setup.header(&b)
		entry(&b, "sweep", fmt.Sprintf("over %s, which stands in for what is said above; means of %s", s.Label, count(len(s.Seeds), "seed")))
		b.WriteString("\n")
	}
	for _, k := range Columns() {
		switch k.Name {
		case "ttft.p99", "ttft.mean", "kv_hit", "goodput", "failed":
			s.table(&b, &k)
		}
	}
	s.capacity(&b)
	entry(&b, "warnings", s.Warnings...)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes one figure over the condition; points that bisection added are
// left to the JSON.
func (s *Sweep) table(b *strings.Builder, k *Column) {
	g := grid{corner: strings.TrimSpace(k.Label + " " + k.Unit)}
	for i := range s.Contenders {
		var row []cell
		for _, p := range s.Contenders[i].Points {
			if p.Refined {
				continue
			}
			if i == 0 {
				g.heads = append(g.heads, head{unit: fmt.Sprintf("%.4g", p.At)})
			}
			row = append(row, cell{value: k.number(p.Figures[k.Name])})
		}
		g.add(s.Contenders[i].Name, row...)
	}
	if len(g.heads) > 0 {
		g.heads[0].name = s.Over
	}
	g.write(b)
	b.WriteString("\n")
}

// capacity writes the largest loads, if they were looked for.
func (s *Sweep) capacity(b *strings.Builder) {
	g := grid{corner: "capacity", heads: []head{{"keeps the SLO", "rate scale"}, {"", "req/s"}, {"does not at", "rate scale"}}}
	scale := Column{Scale: 1, Decimals: 3}
	for i := range s.Contenders {
		if c := s.Contenders[i].Capacity; c != nil {
			var row []cell
			for _, f := range []engine.Figure{c.At, c.Rate, c.Fails} {
				row = append(row, cell{value: scale.number(f)})
			}
			g.add(s.Contenders[i].Name, row...)
		}
	}
	if len(g.rows) == 0 {
		return
	}
	g.write(b)
	b.WriteString("the largest load whose p99 of TTFT meets the SLO with at most 5 % of the requests failed, by ladder and bisection\n\n")
}
