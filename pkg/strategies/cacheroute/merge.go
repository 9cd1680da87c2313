package cacheroute

import (
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// merger joins the placements of zones.
type merger struct {
	zones             []zone
	rates             []router.KeyRate
	warm, cold        []uint16 // workers by their numbers in the parts
	misses            float64  // load of the cold workers beside requests
	protected, filler Placement
}

// merge returns the placement on all workers. Keys that found no room are cold
// traffic too.
func (m *merger) merge() Placement {
	everyone := len(m.warm) + len(m.cold)
	out := Placement{Load: make([]float64, everyone)}
	all := make([]uint16, everyone)
	for w := range all {
		all[w] = uint16(w)
	}
	for i, w := range m.warm {
		out.Load[w] = m.protected.Load[i]
		if len(m.cold) > 0 { // what found no room is cold
			out.Load[w] -= m.protected.Unadmitted / float64(len(m.warm))
		}
	}
	for i, w := range m.cold {
		out.Load[w] = m.filler.Load[i] + (m.protected.Unadmitted+m.misses)/float64(len(m.cold))
	}
	everywhere := 0.0
	nextWarm, nextCold := 0, 0
	for i, r := range m.rates {
		switch m.zones[i] {
		case ballast:
			out.Table.Append(r.Key, all...)
			everywhere += r.Rate
			out.Admitted += r.Rate
		case protected:
			nextWarm = out.take(r, &m.protected.Table, nextWarm, m.warm)
		case filler:
			nextCold = out.take(r, &m.filler.Table, nextCold, m.cold)
		default:
			out.Unadmitted += r.Rate
		}
	}
	level(out.Load, everywhere)
	for _, w := range m.cold {
		out.Load[w] -= m.misses / float64(len(m.cold))
	}
	return out
}

// take adds the next key of a part's table, if it is the key of r.
func (p *Placement) take(r router.KeyRate, part *router.Table, next int, workers []uint16) int {
	if next == len(part.Keys) || part.Keys[next] != r.Key {
		p.Unadmitted += r.Rate
		return next
	}
	homes := slices.Clone(part.Of(next))
	for i, h := range homes {
		homes[i] = workers[h]
	}
	slices.Sort(homes)
	p.Table.Append(r.Key, homes...)
	p.Admitted += r.Rate
	return next + 1
}

// level adds more to the lowest loads so that the least is as high as possible,
// which is what sending each request to the least loaded worker comes to.
func level(load []float64, more float64) {
	sorted := slices.Clone(load)
	slices.Sort(sorted)
	height, below := math.Inf(1), 0.0
	for i, l := range sorted {
		below += l
		height = (below + more) / float64(i+1)
		if i+1 == len(sorted) || height <= sorted[i+1] {
			break
		}
	}
	for w := range load {
		load[w] = max(load[w], height)
	}
}
