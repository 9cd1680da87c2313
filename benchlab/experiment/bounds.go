package experiment

import (
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
)

// AddBounds adds bounds of the KV hit rate, and how far on the way from the
// baseline to them the contenders are.
func AddBounds(c *report.Comparison, bounds []sim.Bound) {
	const name, gap = "kv_hit", 0.01 // a gap that is less is not worth closing
	base, known := c.Baseline().Figures[name].Mean.Value()
	for _, b := range bounds {
		out := report.Bound{Name: b.Name, Figure: name, About: b.About, Value: b.KVHit}
		for i := range c.Contenders {
			v, ok := c.Contenders[i].Figures[name].Mean.Value()
			closed := engine.Figure{}
			if known && ok && b.KVHit-base >= gap {
				closed = engine.Known((v - base) / (b.KVHit - base))
			}
			out.Closed = append(out.Closed, closed)
		}
		c.Bounds = append(c.Bounds, out)
	}
}
