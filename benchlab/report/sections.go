package report

import (
	"fmt"
	"strings"

	"gatewayd/benchlab/engine"
)

// others writes means and standings of the lesser figures.
func (c *Comparison) others(b *strings.Builder, names []string) {
	cols := c.pick(names)
	g := grid{corner: "contender", heads: heads(cols)}
	for i := range c.Contenders {
		var row []cell
		for k := range cols {
			e := c.Contenders[i].Figures[cols[k].Name]
			row = append(row, cell{value: cols[k].number(e.Mean), mark: e.mark()})
		}
		g.add(c.Contenders[i].Name, row...)
	}
	g.write(b)
	b.WriteString("\n")
}

// misses writes where prompt tokens came from.
func (c *Comparison) misses(b *strings.Builder) {
	share := Column{Scale: 100, Decimals: 1}
	g := grid{corner: "prompt tokens, %", heads: []head{{name: "", unit: "cached"}, {name: "computed:", unit: "never seen"},
		{unit: "evicted"}, {unit: "elsewhere"}, {unit: "stale view"}}}
	for i := range c.Contenders {
		m := &c.Contenders[i].Misses
		var row []cell
		for _, f := range []engine.Figure{m.Cached, m.Compulsory, m.Evicted, m.Elsewhere, m.Stale} {
			row = append(row, cell{value: share.number(f)})
		}
		g.add(c.Contenders[i].Name, row...)
	}
	g.write(b)
	b.WriteString("evicted: the worker had them once; elsewhere: another worker had them; stale view: the gateway believed this one had them\n\n")
}

// bounds writes how close the contenders come to what is possible.
func (c *Comparison) bounds(b *strings.Builder) {
	if len(c.Bounds) == 0 {
		return
	}
	g := grid{corner: "share of the gap closed, %"}
	var bound []cell
	for _, x := range c.Bounds {
		col := c.pick([]string{x.Figure})[0]
		g.heads = append(g.heads, head{strings.ReplaceAll(x.Name, "_", " "), col.Label})
		bound = append(bound, cell{value: col.number(engine.Known(x.Value)) + " " + col.Unit})
	}
	for i := range c.Contenders {
		var row []cell
		for _, x := range c.Bounds {
			closed := Column{Scale: 100, Decimals: 1}
			row = append(row, cell{value: closed.number(x.Closed[i])})
		}
		g.add(c.Contenders[i].Name, row...)
	}
	g.add("the bound itself", bound...)
	g.write(b)
	seen := map[string]bool{}
	for _, x := range c.Bounds {
		if !seen[x.Name] {
			seen[x.Name] = true
			fmt.Fprintf(b, "%s: %s\n", strings.ReplaceAll(x.Name, "_", " "), x.About)
		}
	}
	b.WriteString("\n")
}

// protection writes what protecting blocks is worth.
func (c *Comparison) protection(b *strings.Builder, names []string) {
	if len(c.Protection) == 0 {
		return
	}
	cols := c.pick(names)
	g := grid{corner: "with protection minus without", heads: heads(cols)}
	for _, e := range c.Protection {
		var row []cell
		for k := range cols {
			d := e.Figures[cols[k].Name]
			row = append(row, cell{signed(cols[k].number(d.Mean)), cols[k].half(d.Low, d.High), d.Verdict.Mark()})
		}
		g.add(e.Contender, row...)
	}
	g.write(b)
	b.WriteString("what it is worth that workers evict blocks first whose key has no place in the plan; intervals one by one\n\n")
}
