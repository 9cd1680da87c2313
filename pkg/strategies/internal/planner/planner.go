// Package planner is the common shell of strategies that only plan: it checks
// what comes in from outside and names the workers of what goes out.
package planner

import "gatewayd/pkg/router"

// Func computes a plan from checked input with at least one worker. It leaves
// Plan.Workers to the shell: indexes in the plan refer to in.Fleet.Workers.
type Func func(in router.PlanInput) (router.Plan, error)

// Planner is an instance that only plans. It keeps no state, so Plan may be
// called concurrently.
type Planner struct {
	info router.Info
	plan Func
}

// New returns a planner with the given description; Plans is set for it.
func New(info router.Info, plan Func) *Planner {
	info.Plans = true
	return &Planner{info: info, plan: plan}
}

// Info says what the planner does and needs.
func (p *Planner) Info() router.Info { return p.info }

// Plan computes a plan. It fails on input that no honest host sends: figures
// that are negative or not finite, rates out of order, workers without a name
// or named twice. Without workers the plan abstains.
func (p *Planner) Plan(in router.PlanInput) (router.Plan, error) {
	if err := check(in); err != nil {
		return router.Plan{}, err
	}
	if len(in.Fleet.Workers) == 0 {
		return router.Plan{Note: "no workers"}, nil
	}
	plan, err := p.plan(in)
	if err != nil {
		return router.Plan{}, err
	}
	plan.Workers = make([]router.WorkerRef, len(in.Fleet.Workers))
	for i, w := range in.Fleet.Workers {
		plan.Workers[i] = router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation}
	}
	return plan, nil
}
