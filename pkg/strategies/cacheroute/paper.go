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
	order := byRate(rates, nil)
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
	tree := lpt.New(load)
	homes := make([]span, len(rates))
	var members []uint16
	for _, r := range admitted {
		rate := r.rate()
		if rate <= p.QCap {
			w := tree.Least()
			tree.Set(w, tree.Load(w)+rate)
			homes[r.position] = span{int32(w), 1}
			continue
		}
		k := int(min(copies(rate, p.QCap), float64(p.Workers)))
		homes[r.position] = span{int32(len(members)), int32(k)}
		members = tree.Place(members, k, rate/float64(k))
		if k == 1 {
			homes[r.position].first = int32(members[len(members)-1])
		}
	}
	result.Load = tree.Loads()
	result.pack(rates, ascending, homes, members, len(admitted), p.QCap)
}

// span says where a key's workers are: nowhere if n is 0, in first itself if n is
// 1, else in n places of a list from first on.
type span struct{ first, n int32 }

// pack writes the table of n keys and the saturated keys in ascending order of
// keys.
func (result *Placement) pack(rates []router.KeyRate, ascending []int32, homes []span, members []uint16, n int, qcap float64) {
	t := emptyTable(n, n+len(members))
	for at := range rates {
		i := at
		if ascending != nil {
			i = int(ascending[at])
		}
		r, h := &rates[i], homes[i]
		if r.Rate > qcap && copies(r.Rate, qcap) > float64(len(result.Load)) {
			result.Saturated = append(result.Saturated, r.Key)
		}
		switch {
		case h.n == 0:
			continue
		case h.n == 1:
			t.Members = append(t.Members, uint16(h.first))
		default:
			t.Members = append(t.Members, members[h.first:h.first+h.n]...)
		}
		t.Keys = append(t.Keys, r.Key)
		t.Offsets = append(t.Offsets, uint32(len(t.Members)))
	}
	result.Table = t
}

// emptyTable returns a table with room for keys and their workers.
func emptyTable(keys, members int) (t router.Table) {
	if keys > 0 {
		t.Keys = make([]uint64, 0, keys)
		t.Offsets = make([]uint32, 1, keys+1)
		t.Members = make([]uint16, 0, members)
	}
	return t
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
