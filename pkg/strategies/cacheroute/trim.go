package cacheroute

import (
	"cmp"
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// trimmer takes load off workers that are full, by swaps.
type trimmer struct {
	placed *Placement
	on     [][]seat // the keys with one home on each worker, coldest first
	room   []float64
}

// seat is a key on its worker.
type seat struct {
	rate, size float64
	member     uint32 // place in the table's members
}

// partners bounds the keys of the other worker that a key is swapped for, the
// coldest: a hot worker is to get little back.
const partners = 8

// trim swaps keys of workers above the limit for cold keys of the least loaded
// ones, since a full worker cannot just be handed a key. rates are ascending and
// hold all keys of the table.
func trim(placed *Placement, rates []router.KeyRate, size func(router.KeyRate) float64, budget []float64, limit float64) {
	if slices.Max(placed.Load) <= limit {
		return
	}
	t := trimmer{placed: placed, on: make([][]seat, len(placed.Load)), room: slices.Clone(budget)}
	at := 0
	for i, key := range placed.Table.Keys {
		for rates[at].Key != key {
			at++
		}
		homes := placed.Table.Of(i)
		for _, w := range homes {
			t.room[w] -= size(rates[at])
		}
		if len(homes) == 1 {
			t.on[homes[0]] = append(t.on[homes[0]], seat{rates[at].Rate, size(rates[at]), placed.Table.Offsets[i]})
		}
	}
	for range 4 * len(placed.Load) {
		hot := slices.Index(placed.Load, slices.Max(placed.Load))
		if placed.Load[hot] <= limit || !t.relieve(hot, limit) {
			return
		}
	}
}

// relieve makes the swap with the coldest worker that brings the hot one nearest
// to the limit.
func (t *trimmer) relieve(hot int, limit float64) bool {
	load := t.placed.Load
	cold := slices.Index(load, slices.Min(load))
	byRate := func(a, b seat) int { return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.member, b.member)) }
	slices.SortFunc(t.on[hot], byRate)
	slices.SortFunc(t.on[cold], byRate)
	slow := t.placed.slow
	gap := load[hot] - load[cold]
	want := min((load[hot]-limit)/slow[hot], gap/(slow[hot]+slow[cold]))
	give, take, least := -1, -1, math.Inf(1)
	for i, a := range t.on[hot] {
		for j, b := range t.on[cold][:min(partners, len(t.on[cold]))] {
			d := a.rate - b.rate
			if d <= 0 || d*slow[cold] >= gap || a.size-b.size > t.room[cold] || b.size-a.size > t.room[hot] {
				continue
			}
			if off := math.Abs(d - want); off < least {
				give, take, least = i, j, off
			}
		}
	}
	if give < 0 {
		return false
	}
	a, b := &t.on[hot][give], &t.on[cold][take]
	d := a.rate - b.rate
	load[hot], load[cold] = load[hot]-d*slow[hot], load[cold]+d*slow[cold]
	t.room[hot], t.room[cold] = t.room[hot]+a.size-b.size, t.room[cold]+b.size-a.size
	members := t.placed.Table.Members
	members[a.member], members[b.member] = uint16(cold), uint16(hot)
	*a, *b = *b, *a
	return true
}
