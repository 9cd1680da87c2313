package survey

import (
	"fmt"
	"time"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/router"
)

// gateway is a core with its strategies; its driver tells it the time.
type gateway struct {
	core   *router.Core
	links  []sim.Link
	signal signal.Signal
}

func newGateway(text string, seed uint64, by signal.Signal, c router.Config, members []router.Member) (*gateway, error) {
	links, err := chain.Open(text, seed)
	if err != nil {
		return nil, err
	}
	c.Pool, c.Seed = "survey", seed
	for _, l := range links {
		if err := sim.Check(l.Name, l.Instance); err != nil {
			return nil, err
		}
		c.Links = append(c.Links, router.Link{Name: l.Name, Info: l.Instance.Info()})
	}
	core, err := router.New(c)
	if err != nil {
		return nil, err
	}
	return &gateway{core, links, by}, core.SetFleet(0, members)
}

// tick is the gateway's clock: observers learn what happened, and plans that are
// due come into force.
func (g *gateway) tick(now router.Time) error {
	g.core.Tick(now)
	for i := range g.links {
		if o, ok := g.links[i].Instance.(router.Observer); ok {
			if events := g.core.TakeEvents(i, nil); len(events) > 0 {
				o.Observe(events)
			}
		}
	}
	for _, task := range g.core.PlansDue(now) {
		plan, err := g.links[task.Link].Instance.(router.Planner).Plan(g.signal.Told(task.Input()))
		if err != nil {
			return fmt.Errorf("plan of %s: %w", task.Name, err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			return fmt.Errorf("plan of %s: %w", task.Name, err)
		}
		if err := g.core.Install(now, task.Link, compiled); err != nil {
			return err
		}
	}
	return nil
}

// place asks the chain where a request goes.
func (g *gateway) place(now router.Time, r router.Request) (router.Step, error) {
	step := g.core.Arrive(now, r)
	for step.Kind == router.DoAsk {
		d := g.links[step.Link].Instance.(router.Strategy).Route(step.Input)
		step = g.core.Answer(now, step.Ticket, d, true)
	}
	if step.Kind != router.DoDispatch {
		return step, fmt.Errorf("request %s at %v was not placed: step %d, %s", r.ID, time.Duration(now), step.Kind, step.Refusal.Reason)
	}
	return step, nil
}
