package cacheroute

import (
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// draft is a placement in the making. Keys are visited by rate again and again,
// so all that is known of them lies in that order; workers are named by their
// numbers.
type draft struct {
	Planned
	rates    []router.KeyRate
	previous *router.Table
	keys     []key     // admitted ones by decreasing rate
	members  []uint16  // each admitted key has room for what it wants
	load     []float64 // of admitted keys on each worker, req/s by speed
	slow     []float64 // 1 by the speed of each worker
	power    float64   // of all workers: the sum of their speeds
	room     []float64 // left of each worker's budget
	mean     float64   // load of a worker if all were equal, req/s by speed
	cold     float64   // load of each worker by keys that are not admitted, req/s by speed
	skipped  float64   // rate of the keys that were not admitted, req/s
}

// key is what a draft knows of a key.
type key struct {
	rate, size float64 // requests per second; what a copy takes of a budget
	name       uint64
	position   int32  // in rates
	first      int32  // where its workers are in members
	want, n    uint16 // copies that it is to have, and workers that it has so far
	past
}

func newDraft(p Planned, rates []router.KeyRate, previous *router.Table) *draft {
	n := len(p.IDs)
	d := &draft{Planned: p, rates: rates, previous: previous, load: make([]float64, n), room: make([]float64, n)}
	d.slow, d.power = p.slowness()
	for w := range d.room {
		d.room[w] = math.Inf(1)
		if p.Budget != nil {
			d.room[w] = p.Budget[w]
		}
	}
	return d
}

// past is where a key was in the previous table.
type past struct {
	at   int32  // its place there
	had  uint16 // workers, 0 if it was not there
	home uint16 // the first of them
}

// pasts finds all rates in the previous table; both are in order of keys. It is
// nil if there is nothing to find.
func (d *draft) pasts() []past {
	before := d.previous.Keys
	if len(before) == 0 {
		return nil
	}
	all := make([]past, len(d.rates))
	at := 0
	for i := range d.rates {
		name := d.rates[i].Key
		for at < len(before) && before[at] < name {
			at++
		}
		if at == len(before) {
			break
		}
		if before[at] != name {
			continue
		}
		if homes := d.previous.Of(at); len(homes) > 0 {
			all[i] = past{int32(at), uint16(min(len(homes), math.MaxUint16)), homes[0]}
		}
	}
	return all
}

// gather brings what is known of all keys into the order of their rates. It does
// nothing else, so that its visits to memory overlap.
func (d *draft) gather(order []ranked) {
	d.keys = make([]key, len(order))
	pasts := d.pasts()
	for i, r := range order {
		given := &d.rates[r.position]
		k := &d.keys[i]
		k.rate, k.size, k.name, k.position = given.Rate, given.Tokens, given.Key, r.position
		if pasts != nil {
			k.past = pasts[r.position]
		}
	}
	if d.Tokens > 0 {
		for i := range d.keys {
			if k := &d.keys[i]; k.size == 0 {
				k.size = d.Tokens
			}
		}
	}
}

// admit chooses, by decreasing rate, the keys whose copies fit into the budget
// of all workers together, and skips those that do not.
func (d *draft) admit(order []ranked) {
	total, left, largest, seats := d.Unkeyed, 0.0, 0.0, int32(0)
	for _, r := range d.room {
		left, largest = left+r, max(largest, r)
	}
	d.gather(order)
	admitted := 0
	for i := range d.keys {
		k := &d.keys[i]
		total += k.rate
		k.want, k.first = d.copies(k), seats
		if k.size > largest || float64(k.want)*k.size > left || seats+int32(k.want) > maxSeats {
			d.skipped += k.rate
			continue
		}
		left -= float64(k.want) * k.size
		seats += int32(k.want)
		if admitted < i {
			d.keys[admitted] = *k
		}
		admitted++
	}
	d.keys = d.keys[:admitted]
	d.members = make([]uint16, seats)
	d.mean = total / d.power
}

// copies is Eq. 1, at most one per worker, with hysteresis: a key keeps its
// number of copies while a rate a tenth higher or lower would need it.
func (d *draft) copies(k *key) uint16 {
	if k.rate <= d.QCap && k.had <= 1 {
		return 1
	}
	had := float64(k.had)
	most := float64(len(d.load))
	n := min(copies(k.rate, d.QCap), most)
	if had > 0 && had != n &&
		copies(k.rate, d.QCap*(1+hysteresis)) <= had && had <= min(copies(k.rate, d.QCap*(1-hysteresis)), most) {
		n = had
	}
	return uint16(n)
}

// of returns the workers of a key so far.
func (d *draft) of(k *key) []uint16 { return d.members[k.first : k.first+int32(k.n)] }

// share is the load that a copy of a key brings.
func (k *key) share() float64 {
	if k.want == 1 {
		return k.rate
	}
	return k.rate / float64(k.want)
}

// fits reports whether the worker has room for the key and is not its home yet.
func (d *draft) fits(k *key, w int) bool {
	return k.size <= d.room[w] && (k.n == 0 || !slices.Contains(d.of(k), uint16(w)))
}

// add makes the worker a home of the key.
func (d *draft) add(k *key, w int) {
	d.members[k.first+int32(k.n)] = uint16(w)
	k.n++
	d.load[w] += k.share() * d.slow[w]
	d.room[w] -= k.size
}

// count works out the load that keys without a home spread over the workers.
func (d *draft) count() {
	warm := 0.0
	for i := range d.keys {
		if k := &d.keys[i]; k.n > 0 {
			warm += k.rate
		}
	}
	d.cold = max(0, d.mean-warm/d.power)
}

// placement finishes the draft.
func (d *draft) placement() Placement {
	result := Placement{Load: d.load, Unadmitted: d.skipped, slow: d.slow}
	for w := range d.load { // added up afresh, free of the rounding of moves
		d.load[w] = d.cold
	}
	homes, placed := make([]span, len(d.rates)), 0
	for i := range d.keys {
		k := &d.keys[i]
		if k.n == 0 {
			result.Unadmitted += k.rate
			continue
		}
		placed++
		result.Admitted += k.rate
		members := d.of(k)
		for _, w := range members {
			d.load[w] += k.share() * d.slow[w]
		}
		if homes[k.position] = (span{k.first, int32(k.n)}); k.n == 1 {
			homes[k.position].first = int32(members[0])
			continue
		}
		slices.Sort(members)
	}
	result.pack(d.rates, nil, homes, d.members, placed, d.QCap)
	return result
}
