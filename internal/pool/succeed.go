package pool

import (
	"fmt"
	"maps"

	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// takeOver continues what another pool of the same model has learnt. The other
// one plans and shares no more; its requests end there.
func (p *Pool) takeOver(old *Pool) {
	old.mu.Lock()
	defer old.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = old.began
	p.core.TakeOver(old.core)
	p.bytes.takeOver(&old.bytes)
	for i, l := range p.chain {
		if j := old.link(l.Name); j < len(old.chain) {
			p.known[i].plan.Store(old.known[j].plan.Load())
		}
	}
	close(old.heir)
}

// replaced reports whether another pool has taken this one's place.
func (p *Pool) replaced() bool {
	select {
	case <-p.heir:
		return true
	default:
		return false
	}
}

// Succeed ends the trial of a set whose fleet is known, and puts it in the place
// of another one: its pools continue what the other's have learnt, and its
// metrics and its part of the shared state begin. The switch is called at the
// one point from which on requests should come to this set. The other set only
// serves the requests that it has, until it is closed. When Succeed fails, the
// other set goes on as if nothing had been.
func (s *Set) Succeed(old *Set, turn func()) error {
	s.updating.Lock()
	defer s.updating.Unlock()
	next := map[string]*Pool{}
	snapshot, trial := s.snapshot.Load(), s.trial
	s.trial = false
	for name := range *s.pools.Load() {
		p, err := build(s.poolConfig(name, s.cfg.Telemetry))
		if err == nil {
			err = p.SetFleet(members(snapshot, name))
		}
		if err != nil {
			s.trial = trial
			return fmt.Errorf("model %s: %w", name, err)
		}
		for i, r := range s.opened[name] {
			p.SetStrategy(i, r.info(), r.instance.Load() != nil && s.isUp(i))
		}
		next[name] = p
	}
	for _, p := range *s.pools.Load() {
		p.Close()
	}
	old.telemetry.Store(telemetry.Off())
	s.telemetry.Store(s.cfg.Telemetry)
	elsewhere := map[router.WorkerRef]int{}
	for name, o := range old.Pools() {
		for ref, n := range o.inFlight() {
			elsewhere[ref] += n
		}
		if p := next[name]; p != nil {
			p.takeOver(o)
		}
	}
	for _, p := range next {
		p.Carry(add(nil, elsewhere))
	}
	s.pools.Store(&next)
	turn()
	for _, p := range next {
		p.start()
	}
	old.measuring.Lock()
	s.workers = maps.Clone(old.workers)
	old.measuring.Unlock()
	s.announce(snapshot)
	return nil
}

// announce has the metrics say what the set is.
func (s *Set) announce(snapshot *fleet.Snapshot) {
	var models []string
	for _, m := range snapshot.Models() {
		models = append(models, m.ID)
	}
	s.telemetry.Load().Metrics.AllowModels(models...)
	for i := range s.processes {
		s.telemetry.Load().Metrics.SetPluginUp(s.cfg.Strategies[i].Name, s.isUp(i))
	}
	s.measure(snapshot)
}

// members returns a pool's workers as the core knows them.
func members(snapshot *fleet.Snapshot, pool string) []router.Member {
	all := snapshot.Pools()[pool]
	out := make([]router.Member, len(all))
	for i, m := range all {
		out[i] = m.Member
	}
	return out
}
