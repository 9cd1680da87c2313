package cacheroute

import (
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/lpt"
	"gatewayd/pkg/strategies/internal/planner"
)

// Charge is what a key with more copies than workers costs in slots.
type Charge uint8

const (
	Capped   Charge = iota // the copies that are placed
	Uncapped               // the copies that Eq. 1 asks for, as in VeloxQuant
)

// Paper makes a fresh placement by Algorithm 1 of the paper.
type Paper struct {
	Workers int     // >= 1
	QCap    float64 // requests per second of one key that a worker should carry, > 0
	Slots   float64 // prefixes that a worker's cache holds, > 0; may be a fraction
	Charge  Charge
	// Unkeyed is the rate of requests that no given key accounts for, >= 0; it is
	// spread evenly like that of keys which are not admitted.
	Unkeyed float64
}

// Place admits keys by decreasing rate, skipping those that do not fit, and puts
// each on its least loaded distinct workers. Equal rates keep their order. Rates
// of 0 are legal and not admitted. It fails on parameters and rates out of range
// and on a key with two rates. It takes O(n log workers) time.
func (p Paper) Place(rates []router.KeyRate) (Placement, error) {
	if err := p.check(); err != nil {
		return Placement{}, err
	}
	if err := planner.Rates(rates); err != nil {
		return Placement{}, err
	}
	ascending, err := byKey(rates)
	if err != nil {
		return Placement{}, err
	}
	var result Placement
	order := byRate(rates)
	admitted := order[:0]
	capacity, used := min(float64(p.Workers)*p.Slots, maxSeats), 0.0
	for _, r := range order {
		k := copies(r.rate(), p.QCap)
		if p.Charge == Capped {
			k = min(k, float64(p.Workers))
		}
		if used+k > capacity {
			result.Unadmitted += r.rate()
			continue
		}
		used += k
		admitted = append(admitted, r)
		result.Admitted += r.rate()
	}
	p.place(&result, rates, admitted, ascending)
	return result, nil
}

// place runs LPT over the admitted keys and packs the table by key.
func (p Paper) place(result *Placement, rates []router.KeyRate, admitted []ranked, ascending []int32) {
	load := make([]float64, p.Workers)
	for w := range load {
		load[w] = (result.Unadmitted + p.Unkeyed) / float64(p.Workers)
	}
	heap := lpt.New(load)
	homes := make([]span, len(rates))
	members := make([]uint16, 0, len(admitted)+len(admitted)/8)
	for _, r := range admitted {
		k := int(min(copies(r.rate(), p.QCap), float64(p.Workers)))
		first := len(members)
		members = heap.Place(members, k, r.rate()/float64(k))
		homes[r.position] = span{int32(first), int32(k)}
	}
	result.Load = heap.Loads()
	result.pack(rates, ascending, homes, members, p.QCap)
}

// span is where a key's workers stand in a list; n = 0 if it has none.
type span struct{ first, n int32 }

// pack writes the table and the saturated keys in ascending order of keys.
func (result *Placement) pack(rates []router.KeyRate, ascending []int32, homes []span, members []uint16, qcap float64) {
	keys := 0
	for _, h := range homes {
		if h.n > 0 {
			keys++
		}
	}
	if keys == 0 {
		return
	}
	result.Table = router.Table{
		Keys:    make([]uint64, 0, keys),
		Offsets: make([]uint32, 1, keys+1),
		Members: make([]uint16, 0, len(members)),
	}
	for at := range rates {
		i := int32(at)
		if ascending != nil {
			i = ascending[at]
		}
		if homes[i].n == 0 {
			continue
		}
		r := rates[i]
		result.Table.Append(r.Key, members[homes[i].first:homes[i].first+homes[i].n]...)
		if copies(r.Rate, qcap) > float64(len(result.Load)) {
			result.Saturated = append(result.Saturated, r.Key)
		}
	}
}

func (p Paper) check() error {
	if err := workers(p.Workers); err != nil {
		return err
	}
	if err := positive("qcap", p.QCap); err != nil {
		return err
	}
	if err := positive("slots per worker", p.Slots); err != nil {
		return err
	}
	if !(p.Unkeyed >= 0 && p.Unkeyed <= planner.Most) {
		return fmt.Errorf("unkeyed rate %v must be a number of at least 0", p.Unkeyed)
	}
	if p.Charge > Uncapped {
		return fmt.Errorf("unknown charge %d", p.Charge)
	}
	return nil
}
