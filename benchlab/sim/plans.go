package sim

import (
	"slices"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// strategy is one link of the chain at work; what it does not do is nil.
type strategy struct {
	name     string
	router   router.Strategy
	planner  router.Planner
	observer router.Observer

	coming  *router.Compiled // the plan that is not in force yet
	plans   int
	failed  int
	problem string // of the first failed plan
	churn   float64
	keys    int // that churn was summed over
	last    int // keys of the plan in force
}

func newStrategy(k Link) strategy {
	s := strategy{name: k.Name}
	info := k.Instance.Info()
	s.router, _ = k.Instance.(router.Strategy)
	s.planner, _ = k.Instance.(router.Planner)
	if len(info.Observes) > 0 {
		s.observer, _ = k.Instance.(router.Observer)
	}
	return s
}

// plan makes the plans that are due, from the values of this instant. They come
// into force after the plan delay.
func (l *lab) plan() {
	for _, t := range l.gateway.core.PlansDue(l.now) {
		s := &l.gateway.chain[t.Link]
		compiled, err := s.make(t)
		if err != nil {
			if s.failed++; s.failed == 1 {
				s.problem = err.Error()
			}
			l.gateway.core.PlanFailed(l.now, t.Link)
			continue
		}
		s.coming = compiled
		l.agenda.add(event{at: l.now.Add(l.config.Options.PlanDelay), kind: planReady, who: int32(t.Link)})
	}
}

func (s *strategy) make(t router.PlanTask) (*router.Compiled, error) {
	plan, err := s.planner.Plan(t.Input())
	if err != nil {
		return nil, err
	}
	plan.Version = t.Version
	return router.Compile(&plan)
}

// planReady puts a plan in force.
func (l *lab) planReady(link int) {
	s := &l.gateway.chain[link]
	before, _ := l.gateway.core.PlanAt(link)
	after := s.coming
	s.coming = nil
	if err := l.gateway.core.Install(l.now, link, after); err != nil {
		l.broken("%v", err)
		return
	}
	s.plans++
	s.last = len(after.Plan().Table.Keys)
	if before != nil {
		churn, keys := churned(before, after.Plan())
		s.churn += churn
		s.keys += keys
	}
}

// churned sums 1 - Jaccard of the workers of each key that both plans hold, and
// counts these keys.
func churned(before, after *router.Plan) (sum float64, keys int) {
	at := make(map[uint64]int, len(before.Table.Keys))
	for i, key := range before.Table.Keys {
		at[key] = i
	}
	for i, key := range after.Table.Keys {
		was, ok := at[key]
		if !ok {
			continue
		}
		a, b := refs(before, was), refs(after, i)
		common := 0
		for _, r := range a {
			if slices.Contains(b, r) {
				common++
			}
		}
		sum += 1 - float64(common)/float64(len(a)+len(b)-common)
		keys++
	}
	return sum, keys
}

// refs are the workers of a plan's i-th key.
func refs(p *router.Plan, i int) []router.WorkerRef {
	var out []router.WorkerRef
	for _, m := range p.Table.Of(i) {
		out = append(out, p.Workers[m])
	}
	return out
}

func (g *gateway) planned() []measure.Strategy {
	out := make([]measure.Strategy, len(g.chain))
	for i := range g.chain {
		s := &g.chain[i]
		out[i] = measure.Strategy{Name: s.name, Plans: s.plans, Failed: s.failed, FirstError: s.problem, Keys: s.last, Compared: s.keys}
		if s.keys > 0 {
			out[i].Churn = engine.Known(s.churn / float64(s.keys))
		}
	}
	return out
}
