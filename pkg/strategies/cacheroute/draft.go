package cacheroute

import (
	"math"
	"slices"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/rendezvous"
)

// draft is a placement in the making. Keys are named by their positions in
// rates, workers by their numbers.
type draft struct {
	Planned
	rates    []router.KeyRate
	previous *router.Table
	keys     []key     // by position
	order    []int32   // admitted keys by decreasing rate
	members  []uint16  // each admitted key has room for what it wants
	hashes   []uint64  // of workers, for rendezvous
	load     []float64 // of admitted keys on each worker, req/s
	room     []float64 // left of each worker's budget
	mean     float64   // load of a worker if all were equal, req/s
	cold     float64   // load of each worker by keys that are not admitted, req/s
}

// key is what a draft knows of a key, close together since keys are visited by
// rate, not by position.
type key struct {
	rate, size float64 // requests per second; what a copy takes of a budget
	before     int32   // position in the previous table, -1 if it is not there
	want       int32   // copies that it is to have
	span               // its workers so far, in members
}

func newDraft(p Planned, rates []router.KeyRate, previous *router.Table) *draft {
	n := len(p.IDs)
	d := &draft{
		Planned: p, rates: rates, previous: previous,
		keys:   make([]key, len(rates)),
		hashes: rendezvous.Hashes(p.IDs),
		load:   make([]float64, n),
		room:   make([]float64, n),
	}
	at := 0 // both lists ascend
	for i, r := range rates {
		for at < len(previous.Keys) && previous.Keys[at] < r.Key {
			at++
		}
		k := &d.keys[i]
		k.rate, k.size, k.before = r.Rate, r.Tokens, -1
		if k.size == 0 {
			k.size = p.Tokens
		}
		if at < len(previous.Keys) && previous.Keys[at] == r.Key {
			k.before = int32(at)
		}
	}
	for w := range d.room {
		d.room[w] = math.Inf(1)
		if p.Budget != nil {
			d.room[w] = p.Budget[w]
		}
	}
	return d
}

// admit chooses, by decreasing rate, the keys whose copies fit into the budget
// of all workers together, and skips those that do not.
func (d *draft) admit(order []ranked) {
	total, left, largest, seats := d.Unkeyed, 0.0, 0.0, int32(0)
	for _, r := range d.room {
		left, largest = left+r, max(largest, r)
	}
	d.order = make([]int32, 0, len(order))
	for _, r := range order {
		k := &d.keys[r.position]
		total += k.rate
		want := d.copies(k)
		if k.size > largest || float64(want)*k.size > left || seats+want > maxSeats {
			continue
		}
		left -= float64(want) * k.size
		d.order = append(d.order, r.position)
		k.want, k.first = want, seats
		seats += want
	}
	d.members = make([]uint16, seats)
	d.mean = total / float64(len(d.load))
}

// copies is Eq. 1, at most one per worker, with hysteresis: a key keeps its
// number of copies while a rate a tenth higher or lower would need it.
func (d *draft) copies(k *key) int32 {
	most := float64(len(d.load))
	n := min(copies(k.rate, d.QCap), most)
	if had := float64(len(d.past(k))); had > 0 && had != n &&
		copies(k.rate, d.QCap*(1+hysteresis)) <= had && had <= min(copies(k.rate, d.QCap*(1-hysteresis)), most) {
		n = had
	}
	return int32(n)
}

// past returns the workers of a key in the previous placement.
func (d *draft) past(k *key) []uint16 {
	if k.before < 0 {
		return nil
	}
	return d.previous.Of(int(k.before))
}

// of returns the workers of a key so far.
func (d *draft) of(k *key) []uint16 { return d.members[k.first : k.first+k.n] }

// share is the load that a copy of an admitted key brings.
func (k *key) share() float64 {
	if k.want == 1 {
		return k.rate
	}
	return k.rate / float64(k.want)
}

// fits reports whether the worker has room for the key and is not its home yet.
func (d *draft) fits(k *key, w uint16) bool {
	return k.size <= d.room[w] && (k.n == 0 || !slices.Contains(d.of(k), w))
}

// add makes the worker a home of the key.
func (d *draft) add(k *key, w uint16) {
	d.members[k.first+k.n] = w
	k.n++
	d.load[w] += k.share()
	d.room[w] -= k.size
}

// placement finishes the draft.
func (d *draft) placement() Placement {
	result := Placement{Load: d.load}
	for w := range d.load { // added up afresh, free of the rounding of moves
		d.load[w] = d.cold
	}
	homes := make([]span, len(d.keys))
	for i := range d.keys {
		k := &d.keys[i]
		homes[i] = k.span
		if k.n == 0 {
			result.Unadmitted += k.rate
			continue
		}
		result.Admitted += k.rate
		slices.Sort(d.of(k))
		for _, w := range d.of(k) {
			d.load[w] += k.share()
		}
	}
	result.pack(d.rates, nil, homes, d.members, d.QCap)
	return result
}
