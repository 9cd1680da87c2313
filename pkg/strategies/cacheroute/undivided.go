package cacheroute

import (
	"math"

	"gatewayd/pkg/router"
)

// newUndivided is a splitter for workers that are not divided: it knows the totals
// and, in order, the keys that live everywhere and that many requests speak for.
// Their number is small, so that nothing else has to be sorted.
func newUndivided(p Planned, rates []router.KeyRate, kept *router.Table) *splitter {
	s := &splitter{Planned: p, rates: rates, total: p.Unkeyed, once: math.Ln2 / p.HalfLife}
	s.slow, s.power = p.slowness()
	for i := range rates {
		s.total += rates[i].Rate
	}
	for _, b := range p.Budget {
		s.budget += b
	}
	other := ranked{bits: math.MaxUint64} // the best of the other keys
	at := 0                               // both lists ascend
	for i := range rates {
		r := &rates[i]
		for at < len(kept.Keys) && kept.Keys[at] < r.Key {
			at++
		}
		worth := p.worth(r, lives(kept, at, r.Key))
		if worth <= 0 {
			continue
		}
		it := newRanked(worth, i)
		switch {
		case r.Rate >= certain*s.once && worth >= proven*s.once && s.everywhere(kept, *r):
			s.order = append(s.order, it)
		case it.bits < other.bits:
			other = it
		}
	}
	s.order = decreasing(s.order)
	s.held = []float64{0}
	for _, r := range s.order {
		if r.bits > other.bits || r.bits == other.bits && r.position > other.position {
			break
		}
		s.held = append(s.held, s.held[s.ballast]+s.size(r.position))
		s.ballast++
	}
	return s
}

// allFits reports whether the caches hold all keys, without a doubt that the order
// of adding up could bring.
func (p *Planned) allFits(rates []router.KeyRate) bool {
	held, budget := 0.0, 0.0
	for i := range rates {
		if rates[i].Rate > 0 {
			held += p.sizeOf(rates[i])
		}
	}
	for _, b := range p.Budget {
		budget += b
	}
	return held*(1+1e-6) <= budget
}
