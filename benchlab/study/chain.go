package study

import (
	"fmt"
	"time"

	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// gateway is a core with its strategies, driven in the traffic's own time.
type gateway struct {
	core      *router.Core
	instances []router.Instance
	second    router.Time // when the core is to be told the time again
	signal    signal.Signal
}

// newGateway makes one of a chain as benchlab takes it, such as "sticky+joule".
func newGateway(chain string, f Fleet, members []router.Member) (*gateway, error) {
	refs, err := ref.ParseChain(chain)
	if err != nil {
		return nil, err
	}
	g := &gateway{signal: f.Signal}
	var links []router.Link
	for i, r := range refs {
		d, err := strategies.Find(r.Name)
		if err != nil {
			return nil, err
		}
		instance, err := d.New(r.Options, router.Mix(f.Seed^uint64(i)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		g.instances = append(g.instances, instance)
		links = append(links, router.Link{Name: d.Name, Info: instance.Info()})
	}
	if g.core, err = router.New(router.Config{Pool: "study", Seed: f.Seed, Links: links}); err != nil {
		return nil, err
	}
	return g, g.core.SetFleet(0, members)
}

// advance does what is due until now: the core's tick, plans and events.
func (g *gateway) advance(now router.Time) error {
	for ; g.second <= now; g.second = g.second.Add(time.Second) {
		g.core.Tick(g.second)
		for i, instance := range g.instances {
			if o, ok := instance.(router.Observer); ok {
				o.Observe(g.core.TakeEvents(i, nil))
			}
		}
		for _, task := range g.core.PlansDue(g.second) {
			if err := g.plan(task); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gateway) plan(task router.PlanTask) error {
	planner, ok := g.instances[task.Link].(router.Planner)
	if !ok {
		return fmt.Errorf("%s says that it plans and does not", task.Name)
	}
	p, err := planner.Plan(g.signal.Told(task.Input()))
	if err != nil {
		return fmt.Errorf("plan of %s: %w", task.Name, err)
	}
	p.Version = task.Version
	compiled, err := router.Compile(&p)
	if err != nil {
		return fmt.Errorf("plan of %s: %w", task.Name, err)
	}
	return g.core.Install(g.second, task.Link, compiled)
}

// place asks the chain where a request goes.
func (g *gateway) place(now router.Time, r router.Request) (router.Step, error) {
	step := g.core.Arrive(now, r)
	for step.Kind == router.DoAsk {
		s, ok := g.instances[step.Link].(router.Strategy)
		var d router.Decision
		if ok {
			d = s.Route(step.Input)
		}
		step = g.core.Answer(now, step.Ticket, d, ok)
	}
	if step.Kind != router.DoDispatch {
		return step, fmt.Errorf("request %s at %v was not placed: step %d, %s", r.ID, time.Duration(now), step.Kind, step.Refusal.Reason)
	}
	return step, nil
}
