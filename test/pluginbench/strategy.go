package main

import (
	"strconv"

	"gatewayd/pkg/router"
)

// definitions are what both plugins serve: least asks for every request, million
// plans.
func definitions() []router.Definition {
	return []router.Definition{
		{Name: "least", Version: "1", Summary: "The fewest requests in flight.", New: func(router.Options, uint64) (router.Instance, error) { return least{}, nil }},
		{Name: "million", Version: "1", Summary: "A table of many keys, of which one in a hundred changes each time.", New: newMillion},
	}
}

type least struct{}

func (least) Info() router.Info {
	return router.Info{Name: "least", Version: "1", Routes: true, Blocks: true}
}

// Route ranks the worker with the fewest requests in flight, and two others.
func (least) Route(in router.Input) router.Decision {
	best := 0
	for i := range in.Workers {
		if in.Workers[i].Load.InFlight < in.Workers[best].Load.InFlight {
			best = i
		}
	}
	n := len(in.Workers)
	return router.Decision{Verdict: router.Route, Reason: "least", Ranking: []router.Placement{
		{Worker: best}, {Worker: (best + 1) % n}, {Worker: (best + 2) % n},
	}}
}

// million makes its tables beforehand: what is measured is how they travel.
type million struct {
	plans [2]router.Plan
	turn  int
}

func newMillion(o router.Options, _ uint64) (router.Instance, error) {
	keys, err := strconv.Atoi(o["keys"])
	if err != nil {
		return nil, err
	}
	m := &million{}
	for p := range m.plans {
		for w := range 64 {
			m.plans[p].Workers = append(m.plans[p].Workers, router.WorkerRef{ID: "w" + strconv.Itoa(w), Incarnation: 1})
		}
		for key := range uint64(keys) {
			to := router.Mix(key) % 64
			if p == 1 && key%100 == 0 {
				to = (to + 1) % 64
			}
			m.plans[p].Table.Append((key+1)<<40, uint16(to))
		}
	}
	return m, nil
}

func (m *million) Info() router.Info {
	return router.Info{Name: "million", Version: "1", Plans: true}
}

func (m *million) Plan(router.PlanInput) (router.Plan, error) {
	m.turn++
	return m.plans[m.turn%2], nil
}
