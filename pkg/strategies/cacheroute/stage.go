package cacheroute

import (
	"cmp"
	"slices"

	"gatewayd/pkg/router"
)

// move is a key that a placement takes from its only home to another.
type move struct {
	member     uint32 // place in the table's members
	from       uint16
	rate, size float64
}

// movesOf lists the moves between two tables over the same workers, the hottest
// keys first.
func (p Planned) movesOf(before, after *router.Table, rates []router.KeyRate) []move {
	var moves []move
	old, at := 0, 0
	for i, key := range after.Keys {
		for old < len(before.Keys) && before.Keys[old] < key {
			old++
		}
		if old == len(before.Keys) {
			break
		}
		was, is := before.Of(old), after.Of(i)
		if before.Keys[old] != key || len(was) != 1 || len(is) != 1 || was[0] == is[0] {
			continue
		}
		for rates[at].Key < key {
			at++
		}
		moves = append(moves, move{after.Offsets[i], was[0], rates[at].Rate, p.sizeOf(rates[at])})
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(b.rate, a.rate) })
	return moves
}

// undo leaves the keys where they were.
func (placed *Placement) undo(moves []move) {
	for _, m := range moves {
		to := &placed.Table.Members[m.member]
		placed.add(*to, -m.rate)
		placed.add(m.from, m.rate)
		*to = m.from
	}
}

// without is the placement with the keys left where they were.
func (placed *Placement) without(moves []move) Placement {
	stale := Placement{Table: router.Table{Members: slices.Clone(placed.Table.Members)}, Load: slices.Clone(placed.Load), slow: placed.slow}
	stale.undo(moves)
	return stale
}

// rewarm is what moves cost: the prefill of what is cached where the keys were,
// in tokens.
func rewarm(moves []move, cached float64) float64 {
	sum := 0.0
	for _, m := range moves {
		sum += m.size * cached
	}
	return sum
}

// account weighs what moves save against what they cost, in prompt tokens.
type account struct {
	seconds float64 // for which the rates hold
	request float64 // work of a request
	cached  float64 // share of prompt tokens, 0..1
	gained  float64 // tokens per second that are cached besides
	most    float64 // req/s that may move at once
}

// settle undoes moves that do not pay, and those beyond the part of the traffic
// that may move at once, the coldest keys first: the next plan makes them. It
// returns the number of moves that it undid. stale is the placement without them.
func (a account) settle(placed, stale *Placement, moves []move) (undone int) {
	if len(moves) == 0 {
		return 0
	}
	saved := a.seconds * ((slices.Max(stale.Load)-slices.Max(placed.Load))*a.request + a.gained)
	if saved <= rewarm(moves, a.cached) {
		placed.undo(moves)
		return len(moves)
	}
	moved, n := 0.0, 0
	for n < len(moves) && (n == 0 || moved+moves[n].rate <= a.most) {
		moved += moves[n].rate
		n++
	}
	placed.undo(moves[n:])
	return len(moves) - n
}
