package cacheroute

import (
	"cmp"
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// merger joins the placements of zones.
type merger struct {
	zones             []zone
	rates             []router.KeyRate
	warm, cold        []uint16 // workers by their numbers in the parts
	ballast           int      // keys that live everywhere
	misses            float64  // load of the cold workers beside requests
	slow              []float64
	protected, filler Placement
}

// merge returns the placement on all workers. Keys that found no room are cold
// traffic too.
func (m *merger) merge() Placement {
	everyone := len(m.warm) + len(m.cold)
	out := Placement{Load: make([]float64, everyone), slow: m.slow}
	warm, cold := m.power(m.warm), m.power(m.cold)
	all := make([]uint16, everyone)
	for w := range all {
		all[w] = uint16(w)
	}
	for i, w := range m.warm {
		out.Load[w] = m.protected.Load[i]
		if len(m.cold) > 0 { // what found no room is cold
			out.Load[w] -= m.protected.Unadmitted / warm
		}
	}
	for i, w := range m.cold {
		out.Load[w] = m.filler.Load[i] + (m.protected.Unadmitted+m.misses)/cold
	}
	everywhere := 0.0
	n := len(m.protected.Table.Keys) + len(m.filler.Table.Keys) + m.ballast
	out.Table = emptyTable(n, len(m.protected.Table.Members)+len(m.filler.Table.Members)+m.ballast*everyone)
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
	level(out.Load, m.slow, everywhere)
	for _, w := range m.cold {
		out.Load[w] -= m.misses / cold
	}
	return out
}

// take adds the next key of a part's table, if it is the key of r.
func (p *Placement) take(r router.KeyRate, part *router.Table, next int, workers []uint16) int {
	if next == len(part.Keys) || part.Keys[next] != r.Key {
		p.Unadmitted += r.Rate
		return next
	}
	t := &p.Table
	for _, h := range part.Of(next) { // both lists ascend, and so does what comes of them
		t.Members = append(t.Members, workers[h])
	}
	t.Keys = append(t.Keys, r.Key)
	t.Offsets = append(t.Offsets, uint32(len(t.Members)))
	p.Admitted += r.Rate
	return next + 1
}

// power is the sum of the speeds of some workers.
func (m *merger) power(workers []uint16) (power float64) {
	for _, w := range workers {
		power += 1 / m.slow[w]
	}
	return power
}

// level adds more to the lowest loads so that the least is as high as possible,
// which is what sending each request to the least loaded worker comes to.
func level(load, slow []float64, more float64) {
	order := make([]int, len(load))
	for w := range order {
		order[w] = w
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(load[a], load[b]), cmp.Compare(a, b)) })
	height, below, power := math.Inf(1), 0.0, 0.0
	for i, w := range order {
		below += load[w] / slow[w]
		power += 1 / slow[w]
		height = (below + more) / power
		if i+1 == len(order) || height <= load[order[i+1]] {
			break
		}
	}
	for w := range load {
		load[w] = max(load[w], height)
	}
}
