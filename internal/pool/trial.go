package pool

import (
	"context"
	"fmt"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state"
)

// Warm shows a set on trial what another one knows: the rates and loads of its
// pools, and of each strategy that both have its plan in force.
func (s *Set) Warm(old *Set) {
	for name, p := range s.Pools() {
		if o := old.Pools()[name]; o != nil {
			p.warm(o)
		}
	}
}

// warmed is the name under which a pool on trial knows the live one, as a peer.
const warmed = "live pool"

func (p *Pool) warm(live *Pool) {
	live.mu.Lock()
	export := live.core.Export(live.now(), rateFloor)
	live.mu.Unlock()
	snapshot := export()
	p.do(func(c *router.Core, now router.Time) { c.Import(now, warmed, snapshot) })
	for _, in := range live.Plans() {
		i := p.link(in.Strategy)
		if i == len(p.chain) || !p.known[i].info.Load().Plans {
			continue
		}
		if compiled, err := router.Compile(in.Plan); err == nil {
			_ = p.install(i, compiled, telemetry.SpanRef{}) // it may have planned already
		}
	}
}

// Trouble says what keeps a set on trial from taking another one's place: a strategy
// that does not serve or has not planned yet; "" if nothing does. What lasts will not
// mend itself. A strategy that does not serve in the other set either is excused,
// unless it is among those that must.
func (s *Set) Trouble(old *Set, must map[string]bool) (trouble string, lasts bool) {
	excused := map[string]bool{}
	for _, p := range old.Processes() {
		excused[p.Name] = p.Phase != plugin.Up && !must[p.Name]
	}
	pools := s.pairs()
	for i, spec := range s.cfg.Strategies {
		state := s.processes[i].State()
		switch {
		case excused[spec.Name]:
			continue
		case state.Restarts > 0 || state.Phase == plugin.Down || state.Phase == plugin.Quarantined:
			return fmt.Sprintf("strategy %s ended while it was tried: %v", spec.Name, state.Err), true
		case state.Phase != plugin.Up:
			return fmt.Sprintf("strategy %s is %v", spec.Name, state.Phase), false
		}
		for name, p := range pools {
			if p.remotes[i].instance.Load() == nil {
				return fmt.Sprintf("strategy %s does not serve model %s", spec.Name, name), false
			}
			if p.remotes[i].info().Plans && p.Up() && !p.known[i].planned.Load() {
				why, lasts := p.misplanned(i)
				return fmt.Sprintf("strategy %s has made no valid plan for model %s%s", spec.Name, name, why), lasts
			}
		}
	}
	return "", false
}

func (s *Set) onTrial() bool {
	s.updating.Lock()
	defer s.updating.Unlock()
	return s.trial
}

// mostMisplanned is how many plans in a row may fail before a set on trial is refused.
const mostMisplanned = 3

// misplanned says why the last plan of link i failed, and whether too many have.
func (p *Pool) misplanned(i int) (why string, lasts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := &p.known[i]; k.misplanned > 0 {
		return fmt.Sprintf(": %v", k.failure), k.misplanned >= mostMisplanned
	}
	return "", false
}

// Up reports whether some worker of the pool takes requests.
func (p *Pool) Up() bool {
	for _, m := range p.Loads() {
		if !m.Down {
			return true
		}
	}
	return false
}

// readOnly is the store of a set on trial: it reads shared facts and keeps none.
type readOnly struct{ state.Store }

func (readOnly) Write(context.Context, string, []router.Write) error { return nil }
