package paper

import (
	"cmp"
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// copies is the third rung of the paper's ablation, which no gateway needs: every
// key has the copies of Eq. 1, on workers that hashing picks without regard to
// their load. The first of them is the key's home under affinity.
type copies struct {
	told     told
	headroom float64
}

// Info says that it plans once.
func (c copies) Info() router.Info {
	return router.Info{Name: "random-copies", Version: "1.0.0", Plans: true, Interval: once}
}

// Plan makes the table.
func (c copies) Plan(in router.PlanInput) (router.Plan, error) {
	workers := in.Fleet.Workers
	plan := router.Plan{Note: "copies at random places"}
	for _, w := range workers {
		plan.Workers = append(plan.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
	}
	if len(workers) == 0 {
		return plan, nil
	}
	qcap := c.headroom * c.told.total / float64(len(workers))
	order := make([]uint16, len(workers))
	for _, r := range c.told.rates {
		for i := range order {
			order[i] = uint16(i)
		}
		slices.SortFunc(order, func(a, b uint16) int {
			return cmp.Compare(router.Rendezvous(r.Key, router.HashID(workers[b].ID)), router.Rendezvous(r.Key, router.HashID(workers[a].ID)))
		})
		n := int(min(max(1, math.Ceil(r.Rate/qcap)), float64(len(workers))))
		members := slices.Clone(order[:n])
		slices.Sort(members)
		plan.Table.Append(r.Key, members...)
	}
	return plan, nil
}
