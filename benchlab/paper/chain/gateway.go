package chain

import (
	"fmt"
	"time"

	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/router"
)

// Gateway is a core with its strategies. Whoever drives it tells it the time and
// how requests end, through Core. It serves one goroutine.
type Gateway struct {
	Core   *router.Core
	links  []sim.Link
	signal signal.Signal
}

// NewGateway makes one of a chain as Open takes it, for these workers, at time 0.
// The chain is told of reuse by the given signal at best.
func NewGateway(text string, by signal.Signal, c router.Config, members []router.Member) (*Gateway, error) {
	links, err := Open(text, c.Seed)
	if err != nil {
		return nil, err
	}
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
	return &Gateway{core, links, by}, core.SetFleet(0, members)
}

// Tick is the gateway's clock: observers learn what happened, and plans that are
// due come into force.
func (g *Gateway) Tick(now router.Time) error {
	g.Core.Tick(now)
	for i := range g.links {
		if o, ok := g.links[i].Instance.(router.Observer); ok {
			if events := g.Core.TakeEvents(i, nil); len(events) > 0 {
				o.Observe(events)
			}
		}
	}
	for _, task := range g.Core.PlansDue(now) {
		if err := g.plan(now, task); err != nil {
			return fmt.Errorf("plan of %s: %w", task.Name, err)
		}
	}
	return nil
}

func (g *Gateway) plan(now router.Time, task router.PlanTask) error {
	plan, err := g.links[task.Link].Instance.(router.Planner).Plan(g.signal.Told(task.Input()))
	if err != nil {
		return err
	}
	plan.Version = task.Version
	compiled, err := router.Compile(&plan)
	if err != nil {
		return err
	}
	return g.Core.Install(now, task.Link, compiled)
}

// Place asks the chain where a request goes. It fails if that is not decided now.
func (g *Gateway) Place(now router.Time, r router.Request) (router.Step, error) {
	step := g.Core.Arrive(now, r)
	for step.Kind == router.DoAsk {
		d := g.links[step.Link].Instance.(router.Strategy).Route(step.Input)
		step = g.Core.Answer(now, step.Ticket, d, true)
	}
	if step.Kind != router.DoDispatch {
		return step, fmt.Errorf("request %s at %v was not placed: step %d, %s", r.ID, time.Duration(now), step.Kind, step.Refusal.Reason)
	}
	return step, nil
}
