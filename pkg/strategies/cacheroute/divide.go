package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

// Divide places keys like Place, but divides the workers if that is worth it:
//
// A worker's cache evicts the least recently used prefix, so a cold key that
// comes once drives out a warm one. Cold traffic therefore lives on the fewest
// workers that can carry it. Keys of middle rate, as many as fit, live on the
// others, which see no cold traffic. The very hottest keys come back so often
// that nothing evicts them: those above Everywhere live on every worker, where
// each of their requests goes to the least loaded one and evens out what the
// rest leaves uneven; others fill up the cold workers.
//
// What a division is worth is predicted from the rates (Zones). Without a budget
// or a half-life nothing is divided. lived are the homes to keep as far as
// possible; admitted are the keys that had a place so far, which another needs
// twice the rate to take; both may be nil.
func (p Planned) Divide(rates []router.KeyRate, admitted, lived *router.Table) (Placement, Zones, error) {
	previous := lived
	if previous == nil {
		previous = &router.Table{}
	}
	if admitted == nil || len(p.Cold) == 0 {
		admitted = &router.Table{}
	}
	if err := p.check(rates, previous); err != nil {
		return Placement{}, Zones{}, err
	}
	if !(p.HalfLife >= 0) || !(p.Everywhere >= 0) || !(p.Waste >= 0 && p.Waste <= planner.Most) || slices.ContainsFunc(p.Cold, func(w uint16) bool { return int(w) >= len(p.IDs) }) {
		return Placement{}, Zones{}, fmt.Errorf("half-life %v, share %v and waste %v must be at least 0, cold workers %v among %d", p.HalfLife, p.Everywhere, p.Waste, p.Cold, len(p.IDs))
	}
	if p.HalfLife == 0 || p.Budget == nil {
		placed, err := p.whole(rates, previous)
		return placed, Zones{}, err
	}
	if p.allFits(rates) {
		placed, err := p.whole(rates, previous)
		return placed, Zones{Flat: 1}, err
	}
	s := newSplitter(p, rates, admitted)
	order := p.coldest(previous)
	best, flat := s.best(len(p.Cold), order)
	zones := Zones{Split: best.hit, Flat: flat}
	least := worth
	if len(p.Cold) > 0 {
		least /= 2
	}
	if best.cold == 0 || best.hit < flat+least {
		placed, err := p.whole(rates, previous)
		return placed, zones, err
	}
	zones.Cold = order[:best.cold]
	slices.Sort(zones.Cold)
	placed, err := s.divide(best, zones.Cold, previous)
	return placed, zones, err
}

// whole places keys without a division. Keys above Everywhere live on every
// worker all the same, if their copies take little of the caches.
func (p Planned) whole(rates []router.KeyRate, previous *router.Table) (Placement, error) {
	if p.HalfLife == 0 || p.Budget == nil {
		return p.Place(rates, previous)
	}
	s := newUndivided(p, rates, previous)
	for s.held[s.ballast]*float64(len(p.IDs)) > spare*s.budget {
		s.ballast--
	}
	zones := make([]zone, len(rates))
	for i := range zones {
		zones[i] = protected
	}
	for _, r := range s.order[:s.ballast] {
		zones[r.position] = ballast
		s.evening += rates[r.position].Rate
	}
	all := make([]uint16, len(p.IDs))
	for w := range all {
		all[w] = uint16(w)
	}
	var err error
	m := merger{zones: zones, rates: rates, warm: all, ballast: s.ballast, slow: s.slow}
	if m.protected, err = s.part(zones, protected, all, 1, p.Unkeyed, p.Bound*s.total/s.power, previous); err != nil {
		return Placement{}, err
	}
	return m.merge(), nil
}

// coldest orders the workers by how fit they are for cold traffic: those that were
// cold, then those that the fewest keys live on.
func (p Planned) coldest(previous *router.Table) []uint16 {
	keys := make([]int, len(p.IDs))
	for _, w := range previous.Members {
		keys[w]++
	}
	all := make([]uint16, len(p.IDs))
	for w := range all {
		all[w] = uint16(w)
		if slices.Contains(p.Cold, all[w]) {
			keys[w] -= math.MaxInt32
		}
	}
	slices.SortFunc(all, func(a, b uint16) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	return all
}

// zone is where a key lives.
type zone uint8

const (
	tail      zone = iota // on the cold workers, by the rule for keys without a place
	ballast               // everywhere
	protected             // on a worker without cold traffic
	filler                // on a cold worker, hot enough to stay
)

// divide places the keys of each zone by themselves.
func (s *splitter) divide(d division, cold []uint16, previous *router.Table) (Placement, error) {
	zones := s.zones(d)
	var warm []uint16
	for w := range s.IDs {
		if !slices.Contains(cold, uint16(w)) {
			warm = append(warm, uint16(w))
		}
	}
	requests := max(0, s.total-s.load[s.ballast+d.protect])
	m := merger{zones: zones, rates: s.rates, warm: warm, cold: cold, ballast: s.ballast, misses: max(0, d.tail-requests), slow: s.slow}
	var err error
	level := min(s.load[s.ballast]/s.power, d.mean*(1-1/s.Bound)) // of the ballast on each worker
	if m.protected, err = s.part(zones, protected, warm, d.fill, 0, d.mean-level, previous); err != nil {
		return Placement{}, err
	}
	if m.filler, err = s.part(zones, filler, cold, 0.5, requests, d.mean, previous); err != nil {
		return Placement{}, err
	}
	return m.merge(), nil
}

// zones assigns the keys: the hottest that need protection fill up the cold
// workers, if the others would carry more than their part of the load and cold
// traffic cannot evict them.
func (s *splitter) zones(d division) []zone {
	zones := make([]zone, len(s.rates))
	for _, r := range s.order[:s.ballast] {
		zones[r.position] = ballast
	}
	end := s.ballast + d.protect
	surplus := s.load[end] - s.load[s.ballast] - (s.power-d.power)*d.mean
	free := d.power*d.mean - d.tail
	for i, r := range s.order[s.ballast:end] {
		rate := s.demand[s.ballast+i].rate
		zones[r.position] = protected
		if surplus > 0 && rate <= free && rate*d.stay >= immune {
			zones[r.position] = filler
			surplus, free = surplus-rate, free-rate
		}
	}
	return zones
}

// part places the keys of a zone on some of the workers, whose numbers in the
// result count within the part.
func (s *splitter) part(zones []zone, z zone, workers []uint16, fill, unkeyed, limit float64, previous *router.Table) (Placement, error) {
	p := s.Planned
	p.IDs, p.Budget, p.Speed, p.Unkeyed = nil, nil, nil, unkeyed
	p.QCap = max(p.QCap, s.Everywhere*s.total/float64(len(s.IDs)))
	number := make([]int, len(s.IDs))
	for _, w := range workers {
		p.IDs = append(p.IDs, s.IDs[w])
		p.Budget = append(p.Budget, max(0, fill*(s.Budget[w]-s.held[s.ballast])))
		p.Speed = append(p.Speed, s.speed(int(w)))
		number[w] = len(p.IDs)
	}
	if err := p.checkSelf(); err != nil {
		return Placement{}, err
	}
	if len(workers) < len(s.IDs) {
		previous = renumbered(previous, number)
	}
	placed := p.place(s.rates, &filter{zones, z}, previous)
	trim(&placed, s.rates, p.sizeOf, p.Budget, limit+placed.Unadmitted/s.powerOf(workers))
	return placed, nil
}

// renumbered expresses a table in other numbers of the workers, counted from 1; 0
// leaves a worker out, and a key that has no other.
func renumbered(t *router.Table, number []int) *router.Table {
	out := emptyTable(len(t.Keys), len(t.Members))
	for i, key := range t.Keys {
		had := len(out.Members)
		for _, w := range t.Of(i) {
			if number[w] > 0 {
				out.Members = append(out.Members, uint16(number[w]-1))
			}
		}
		if len(out.Members) > had {
			out.Keys = append(out.Keys, key)
			out.Offsets = append(out.Offsets, uint32(len(out.Members)))
		}
	}
	return &out
}
