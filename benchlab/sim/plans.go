package sim

import (
	"cmp"
	"slices"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// strategy is one link of a gateway's chain at work; what it does not do is nil.
type strategy struct {
	router   router.Strategy
	planner  router.Planner
	observer router.Observer
	interval time.Duration // between its plans, where they state none

	coming *router.Compiled // the plan that is not in force yet
	fence  uint64           // under which it was made
}

// tally sums up the plans of one link, over all gateways.
type tally struct {
	plans   int
	failed  int
	problem string // of the first failed plan
	churn   float64
	keys    int // that churn was summed over
	last    int // keys of the newest plan
}

func newStrategy(k Link) strategy {
	var s strategy
	info := k.Instance.Info()
	s.router, _ = k.Instance.(router.Strategy)
	s.planner, _ = k.Instance.(router.Planner)
	if len(info.Observes) > 0 {
		s.observer, _ = k.Instance.(router.Observer)
	}
	if s.interval = info.Interval; s.interval <= 0 {
		s.interval = defaultPlanInterval
	}
	return s
}

// planAt has a gateway look at a time for plans that are due.
func (l *lab) planAt(g *gateway, at router.Time) {
	if len(g.chain) > 0 {
		l.agenda.add(event{at: at, kind: plans, who: g.number, turn: g.life})
	}
}

// plans reports whether the gateway makes plans: alone, or with the lease.
func (g *gateway) plans() bool { return g.solo || g.fence > 0 }

// plan makes the plans that are due, from the values of this instant. They come
// into force after the plan delay.
func (l *lab) plan(g *gateway) {
	if !g.plans() {
		return // they stay due, for when it has the lease
	}
	for _, t := range g.core.PlansDue(l.now) {
		s := &g.chain[t.Link]
		if g.fence > 0 {
			// Versions go with the clock, so that they grow over changes of the planner.
			t.Version = max(t.Version, g.fence+uint64((l.now-g.fenced)/router.Time(time.Microsecond)))
		}
		compiled, err := s.make(t, l.config.Options.Signal.Told(t.Input()))
		if err != nil || s.coming != nil {
			l.planFailed(g, t.Link, err)
			continue
		}
		s.coming, s.fence = compiled, g.fence
		at := l.now.Add(l.config.Options.PlanDelay)
		l.agenda.add(event{at: at, kind: planReady, who: g.number, turn: uint64(t.Link)<<linkShift | g.life})
	}
}

func (s *strategy) make(t router.PlanTask, in router.PlanInput) (*router.Compiled, error) {
	plan, err := s.planner.Plan(in)
	if err != nil {
		return nil, err
	}
	plan.Version = t.Version
	return router.Compile(&plan)
}

// planFailed goes on with the plan in force.
func (l *lab) planFailed(g *gateway, link int, err error) {
	t := &l.tallies[link]
	if t.failed++; t.problem == "" && err != nil {
		t.problem = err.Error()
	}
	g.core.PlanFailed(l.now, link)
	l.planAt(g, l.now.Add(g.chain[link].interval))
}

// planReady puts a plan in force, at this gateway now and at the others when
// they hear of it.
func (l *lab) planReady(g *gateway, link int) {
	s := &g.chain[link]
	after := s.coming
	s.coming = nil
	if s.fence > 0 && g.cuts == 0 {
		if err := l.store.publish(link, after, s.fence); err != nil {
			l.planFailed(g, link, err)
			return
		}
	}
	before, _ := g.core.PlanAt(link)
	if err := g.core.Install(l.now, link, after); err != nil {
		if len(l.gateways) == 1 {
			l.broken("%v", err)
		}
		l.planFailed(g, link, err)
		return
	}
	l.planAt(g, l.now.Add(cmp.Or(after.Plan().Next, s.interval)))
	t := &l.tallies[link]
	t.plans++
	t.last = len(after.Plan().Table.Keys)
	l.protect(link, after.Plan())
	if before != nil {
		churn, keys := churned(before, after.Plan())
		t.churn += churn
		t.keys += keys
	}
}

// churned sums 1 - Jaccard of the workers of each key that both plans hold, and
// counts these keys.
func churned(before, after *router.Plan) (sum float64, keys int) {
	at := make(map[uint64]int, len(before.Table.Keys))
	for i, key := range before.Table.Keys {
		at[key] = i
	}
	was := make([]int, len(after.Workers)) // numbers of these workers in the plan before
	for i, w := range after.Workers {
		if was[i] = i; i >= len(before.Workers) || before.Workers[i] != w {
			was[i] = slices.Index(before.Workers, w)
		}
	}
	for i, key := range after.Table.Keys {
		k, ok := at[key]
		if !ok {
			continue
		}
		old, members := before.Table.Of(k), after.Table.Of(i)
		common := 0
		for _, m := range members {
			if was[m] >= 0 && slices.Contains(old, uint16(was[m])) {
				common++
			}
		}
		sum += 1 - float64(common)/float64(len(old)+len(members)-common)
		keys++
	}
	return sum, keys
}

func (l *lab) planned() []measure.Strategy {
	out := make([]measure.Strategy, len(l.tallies))
	for i, t := range l.tallies {
		out[i] = measure.Strategy{Name: l.config.Chain[i].Name, Plans: t.plans, Failed: t.failed, FirstError: t.problem, Keys: t.last, Compared: t.keys}
		if t.keys > 0 {
			out[i].Churn = engine.Known(t.churn / float64(t.keys))
		}
	}
	return out
}
