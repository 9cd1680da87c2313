package rules

import (
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/router"
)

func validPlan(p *router.Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	for i, load := range p.Expected {
		if !(load >= 0 && load < math.Inf(1)) {
			return fmt.Errorf("plan expects a load of %v at worker %s", load, p.Workers[i].ID)
		}
	}
	return nil
}

// shownToPlan is an error if a plan names a worker, or a life of one, that is
// not in the fleet.
func shownToPlan(a answer) error {
	for _, w := range a.plan.Workers {
		if !slices.ContainsFunc(a.planned.Fleet.Workers, func(f router.Worker) bool {
			return f.ID == w.ID && f.Incarnation == w.Incarnation
		}) {
			return fmt.Errorf("the plan names worker %q of incarnation %d, which is not in the fleet", w.ID, w.Incarnation)
		}
	}
	return nil
}

func distinctPlan(p *router.Plan) error {
	if p.Validate() != nil {
		return nil // the rule valid tells
	}
	keys := make(map[uint64]bool, len(p.Table.Keys))
	for i, key := range p.Table.Keys {
		if keys[key] {
			return fmt.Errorf("the table has key %d twice", key)
		}
		keys[key] = true
		members := slices.Clone(p.Table.Of(i))
		slices.Sort(members)
		if len(slices.Compact(members)) < len(p.Table.Of(i)) {
			return fmt.Errorf("the table names a worker of key %d twice", key)
		}
	}
	return nil
}
