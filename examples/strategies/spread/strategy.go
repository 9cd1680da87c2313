package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gatewayd/pkg/router"
)

// Definition says how the strategy is named, described and made.
func Definition() router.Definition {
	return router.Definition{
		Name: "spread", Version: "1.0.0",
		Summary: "Each hot key on as many workers as its rate needs, the others by rendezvous hashing.",
		Options: []router.Option{
			{Name: "rate", Default: "2", Help: "requests per second of one key that a worker should carry, above 0"},
		},
		New: open,
	}
}

// open makes an instance. It refuses options that it does not know, by name.
func open(o router.Options, _ uint64) (router.Instance, error) {
	s := &strategy{rate: 2}
	for name, value := range o {
		v, err := strconv.ParseFloat(value, 64)
		if name != "rate" || err != nil || !(v > 0 && v < math.Inf(1)) {
			return nil, fmt.Errorf("option %s=%s: there is rate, above 0", name, value)
		}
		s.rate = v
	}
	return s, nil
}

// strategy plans: it is not asked for single requests, so that none waits for it.
type strategy struct{ rate float64 }

// Info asks for a plan every two seconds, made of the rates of keys.
func (s *strategy) Info() router.Info {
	return router.Info{Name: "spread", Version: "1.0.0", Plans: true, Rates: true, Interval: 2 * time.Second}
}

// Plan works from its input alone. A key that needs several workers gets the
// first of its rendezvous order, so that plans differ little from each other; a
// key that needs one goes by the rest, which has the same order.
func (s *strategy) Plan(in router.PlanInput) (router.Plan, error) {
	p := router.Plan{
		Rest:  router.Rest{Order: router.ByRendezvous},
		Guard: router.Guard{Of: router.InFlight, Factor: 1.25, Slack: 4},
	}
	order := make([]uint16, len(in.Fleet.Workers))
	hashes := make([]uint64, len(order))
	for i, w := range in.Fleet.Workers {
		p.Workers = append(p.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
		order[i], hashes[i] = uint16(i), router.HashID(w.ID)
	}
	hot := 0
	for _, r := range in.Rates {
		need := min(math.Ceil(r.Rate/s.rate), float64(len(order)))
		if need < 2 {
			continue
		}
		slices.SortFunc(order, func(a, b uint16) int {
			return cmp.Compare(router.Rendezvous(r.Key, hashes[b]), router.Rendezvous(r.Key, hashes[a]))
		})
		p.Table.Append(r.Key, order[:int(need)]...)
		hot++
	}
	p.Note = fmt.Sprintf("%d of %d keys on several workers", hot, len(in.Rates))
	return p, nil
}
