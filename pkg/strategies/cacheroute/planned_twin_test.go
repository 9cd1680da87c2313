package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// plannedTwin is the literal form of Planned. Its rates must divide by every
// number of copies and speeds be powers of two, so that loads are exact and sums do
// not depend on their order.
type plannedTwin struct {
	twin
	Planned
	rates map[uint64]router.KeyRate
	want  map[uint64]int
	rank  map[uint64]int // by decreasing rate
	room  []float64
}

func newPlannedTwin(p Planned, rates []router.KeyRate, previous map[uint64][]uint16) *plannedTwin {
	t := &plannedTwin{
		twin:    twin{homes: map[uint64][]uint16{}, load: make([]float64, len(p.IDs))},
		Planned: p, rates: map[uint64]router.KeyRate{}, want: map[uint64]int{}, rank: map[uint64]int{},
	}
	left := 0.0
	for w := range p.IDs {
		t.room = append(t.room, math.Inf(1))
		if p.Budget != nil {
			t.room[w] = p.Budget[w]
		}
		left += t.room[w]
	}
	largest := slices.Max(t.room)
	order, total := descending(rates), p.Unkeyed
	var admitted []router.KeyRate
	for _, r := range order {
		total += r.Rate
		k := t.copiesOf(r, len(previous[r.Key]))
		if size := t.sizeOf(r); size <= largest && float64(k)*size <= left {
			left -= float64(k) * size
			t.rates[r.Key], t.want[r.Key], t.rank[r.Key] = r, k, len(admitted)
			admitted = append(admitted, r)
		}
	}
	power := 0.0
	for w := range p.IDs {
		power += t.speedOf(uint16(w))
	}
	mean := total / power
	tooMany := func(r router.KeyRate) bool { return len(previous[r.Key]) > t.want[r.Key] }
	keeping := slices.Clone(admitted)
	slices.SortStableFunc(keeping, func(a, b router.KeyRate) int {
		switch {
		case tooMany(a) == tooMany(b):
			return 0
		case tooMany(a):
			return 1
		}
		return -1
	})
	for _, r := range keeping {
		homes := slices.Clone(previous[r.Key])
		if tooMany(r) {
			slices.SortStableFunc(homes, func(a, b uint16) int { return cmp.Compare(t.load[a], t.load[b]) })
		}
		for _, w := range homes {
			if len(t.homes[r.Key]) < t.want[r.Key] && t.sizeOf(r) <= t.room[w] {
				t.put(r.Key, w)
			}
		}
	}
	for _, r := range admitted { // settle
		for len(t.homes[r.Key]) < t.want[r.Key] {
			fits := func(w uint16) bool { return t.sizeOf(r) <= t.room[w] && !slices.Contains(t.homes[r.Key], w) }
			least := t.fewest(fits)
			if least < 0 {
				homes := t.homes[r.Key]
				for len(t.homes[r.Key]) > 0 {
					t.take(r.Key, t.homes[r.Key][0])
				}
				t.want[r.Key] = len(homes)
				delete(t.homes, r.Key)
				for _, w := range homes {
					t.put(r.Key, w)
				}
				break
			}
			home := least
			for w, id := range p.IDs {
				if fits(uint16(w)) && (!fits(uint16(home)) || router.Rendezvous(r.Key, router.HashID(id)) > router.Rendezvous(r.Key, router.HashID(p.IDs[home]))) {
					home = w
				}
			}
			if t.load[home]-t.load[least] > p.Near*mean {
				home = least
			}
			t.put(r.Key, uint16(home))
		}
	}
	warm := 0.0
	for key := range t.homes {
		warm += t.rates[key].Rate
	}
	cold := max(0, mean-warm/power)
	share := p.evening / power
	t.move(1, max(p.Bound*mean, (mean+share)*(1-(p.Bound-1)/2))-cold, false)
	t.move(1, max((1+loose*(p.Bound-1))*mean, mean+share)-cold, true)
	t.move(-1, (1-loose*(p.Bound-1))*(mean+share)-share-cold, true)
	for w := range t.load {
		t.load[w] += cold
	}
	return t
}

func (t *plannedTwin) speedOf(w uint16) float64 {
	if t.Speed == nil {
		return 1
	}
	return t.Speed[w]
}

func (t *plannedTwin) sizeOf(r router.KeyRate) float64 {
	if r.Tokens == 0 {
		return t.Tokens
	}
	return r.Tokens
}

func (t *plannedTwin) copiesOf(r router.KeyRate, had int) int {
	k := func(qcap float64) int { return min(len(t.IDs), max(1, int(math.Ceil(r.Rate/qcap)))) }
	if had > 0 && int(math.Ceil(r.Rate/(t.QCap*1.1))) <= had && had <= k(t.QCap*0.9) {
		return had
	}
	return k(t.QCap)
}

func (t *plannedTwin) shareOf(key uint64) float64 { return t.rates[key].Rate / float64(t.want[key]) }

func (t *plannedTwin) put(key uint64, w uint16) {
	t.homes[key] = append(t.homes[key], w)
	t.load[w] += t.shareOf(key) / t.speedOf(w)
	t.room[w] -= t.sizeOf(t.rates[key])
}

func (t *plannedTwin) take(key uint64, w uint16) {
	i := slices.Index(t.homes[key], w)
	t.homes[key] = slices.Delete(slices.Clone(t.homes[key]), i, i+1)
	t.load[w] -= t.shareOf(key) / t.speedOf(w)
	t.room[w] += t.sizeOf(t.rates[key])
}

// worst is the worker furthest beyond the limit, above it (side 1) or below it
// (side -1), among those that are not stuck; -1 if there is none.
func (t *plannedTwin) worst(side, limit float64, stuck map[int]bool) int {
	worst, most := -1, 0.0
	for w, l := range t.load {
		if excess := side * (l - limit); excess > most && !stuck[w] {
			worst, most = w, excess
		}
	}
	return worst
}

// move makes moves while there is a worker beyond the limit that moves help, and
// looks past those that they do not help if it is to go on.
func (t *plannedTwin) move(side, limit float64, on bool) {
	stuck := map[int]bool{}
	for w := t.worst(side, limit, stuck); w >= 0; w = t.worst(side, limit, stuck) {
		var others []int
		for o := range t.load {
			others = append(others, o)
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(side*t.load[a], side*t.load[b]) })
		moved := slices.ContainsFunc(others, func(o int) bool {
			if side > 0 {
				return t.moveBest(uint16(w), uint16(o))
			}
			return t.moveBest(uint16(o), uint16(w))
		})
		if !moved && !on {
			return
		}
		stuck[w] = !moved
	}
}

// moveBest moves the key whose share comes nearest to closing the gap.
func (t *plannedTwin) moveBest(hot, cold uint16) bool {
	gap := t.load[hot] - t.load[cold]
	best, found := uint64(0), false
	middle := gap / (1/t.speedOf(hot) + 1/t.speedOf(cold))
	distance := func(key uint64) float64 { return math.Abs(t.shareOf(key) - middle) }
	for key, homes := range t.homes {
		s := t.shareOf(key)
		if s >= gap*t.speedOf(cold) || !slices.Contains(homes, hot) || slices.Contains(homes, cold) || t.sizeOf(t.rates[key]) > t.room[cold] {
			continue
		}
		d := distance(key)
		switch {
		case !found || d < distance(best):
		case d > distance(best) || s > t.shareOf(best):
			continue
		case s == t.shareOf(best) && (s < middle) == (t.rank[key] > t.rank[best]):
			continue // of equal keys below the middle the hottest, above it the coldest
		}
		best, found = key, true
	}
	if found {
		t.take(best, hot)
		t.put(best, cold)
	}
	return found
}

func TestPlannedLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	kept := 0
	for round := range 600 {
		p := Planned{
			IDs: names(1 + rng.IntN(8)), QCap: float64(500 + rng.IntN(20_000)), Tokens: float64(rng.IntN(50)),
			Near: []float64{0, 0.05, 0.5}[rng.IntN(3)], Bound: []float64{1, 1.1, 1.5}[rng.IntN(3)],
			Unkeyed: float64(840 * rng.IntN(3)), evening: float64(840 * max(0, rng.IntN(80)-40)),
		}
		if rng.IntN(2) > 0 {
			for range p.IDs {
				p.Speed = append(p.Speed, []float64{0.5, 1, 2}[rng.IntN(3)])
			}
		}
		if rng.IntN(3) > 0 {
			for range p.IDs {
				p.Budget = append(p.Budget, float64(rng.IntN(500)))
			}
		}
		rates := make([]router.KeyRate, rng.IntN(40))
		var table router.Table
		previous := map[uint64][]uint16{}
		for i := range rates {
			rates[i] = router.KeyRate{Key: uint64(2 * i), Rate: float64(840 * rng.IntN(40)), Tokens: float64(rng.IntN(60))}
			if rng.IntN(3) > 0 {
				homes := rng.Perm(len(p.IDs))[:1+rng.IntN(min(3, len(p.IDs)))]
				slices.Sort(homes)
				key := uint64(i + i%2) // some of them are no keys of the rates
				if len(table.Keys) > 0 && key <= table.Keys[len(table.Keys)-1] {
					continue
				}
				for _, w := range homes {
					previous[key] = append(previous[key], uint16(w))
				}
				table.Append(key, previous[key]...)
			}
		}
		got, err := p.Place(rates, &table)
		if err != nil {
			t.Fatal(err)
		}
		kept += len(got.Table.Keys)
		want := newPlannedTwin(p, rates, previous)
		want.compare(t, fmt.Sprintf("round %d: %+v\nrates %v\nprevious %v", round, p, rates, previous), got)
	}
	if kept < 4_000 {
		t.Errorf("only %d keys were placed in all: the test tests little", kept)
	}
}
