package router

import (
	"errors"
	"fmt"

	"gatewayd/pkg/estimator"
)

// ErrStale means that a plan is not newer than the one in force.
var ErrStale = errors.New("plan is not newer than the one in force")

// PlanTask asks the driver to have a strategy plan: call Plan with Input, then
// Install, or PlanFailed. Input may be called outside of the core's lock.
type PlanTask struct {
	Link    int
	Name    string
	Version uint64 // for the new plan
	input   PlanInput
	own     *estimator.Frozen
	homes   map[uint32]uint32 // life of a worker -> its place in the fleet, plus one
	peers   []Snapshot
	now     Time
}

// Input builds the planner's input: rates of all gateways, merged.
func (t PlanTask) Input() PlanInput {
	in := t.input
	if t.own != nil {
		all := [][]estimator.Rate{t.own.At(int64(t.now), 0)}
		remark(all[0], t.homes)
		at := make(map[WorkerRef]uint32, len(in.Fleet.Workers))
		for i, w := range in.Fleet.Workers {
			at[WorkerRef{w.ID, w.Incarnation}] = uint32(i) + 1
		}
		for _, p := range t.peers {
			all = append(all, p.ratesAt(at))
		}
		merged := estimator.Merge(all...)
		in.Rates = make([]KeyRate, 0, len(merged))
		for _, r := range merged {
			if r.PerSecond > 0 {
				in.Rates = append(in.Rates, KeyRate{Key: r.Key, Rate: r.PerSecond, Tokens: r.Tokens, Home: int(r.Mark)})
			}
		}
	}
	return in
}

// PlansDue returns the plans to be made now: one interval after the last, and
// at once after a change of the fleet. Each must be answered by Install or
// PlanFailed before the strategy is planned with again.
func (c *Core) PlansDue(now Time) []PlanTask {
	var tasks []PlanTask
	for i := range c.cfg.Links {
		k := &c.links[i]
		if !k.info.Plans || k.down || k.planning || c.fleet == 0 || now < k.planNext && k.planFor == c.fleet {
			continue
		}
		k.planning, k.planFor = true, c.fleet
		tasks = append(tasks, c.planTask(now, i))
	}
	return tasks
}

func (c *Core) planTask(now Time, i int) PlanTask {
	k := &c.links[i]
	t := PlanTask{Link: i, Name: k.name, Version: k.version + 1, now: now, homes: map[uint32]uint32{}}
	t.input = PlanInput{
		Now: now, Pool: c.cfg.Pool, Seed: Mix(c.cfg.Seed ^ uint64(i) ^ Mix(uint64(now))),
		Fleet: Fleet{Number: c.fleet}, TotalRate: c.total.Rate(int64(now)),
		HalfLife: c.cfg.RateHalfLife, Reuse: c.reuse.share(), Last: i == len(c.cfg.Links)-1,
	}
	t.input.OutputTokens, _ = c.output.Value()
	t.input.PromptTokens, _ = c.prompt.Value()
	t.input.Depth, _ = c.reuse.depth.Value()
	peersAge := c.peersAge(now)
	for _, w := range c.workers {
		if !w.info.Down {
			t.input.Fleet.Workers = append(t.input.Fleet.Workers, w.shown(peersAge))
			t.homes[w.number] = uint32(len(t.input.Fleet.Workers))
		}
	}
	if k.plan != nil {
		t.input.Previous, t.input.PreviousAge = k.plan.plan, now.since(k.planned)
	}
	if k.info.Rates {
		t.own = c.rates.Freeze()
	}
	for _, name := range c.Peers() { // in order, since sums of floats depend on it
		t.input.TotalRate += c.peers[name].snapshot.TotalRate
		if k.info.Rates {
			t.peers = append(t.peers, c.peers[name].snapshot)
		}
	}
	return t
}

// Install puts a plan in force, which ends the link's task. It fails with
// ErrStale, and the plan in force stays, if one with the same or a newer
// version has been in force before.
func (c *Core) Install(now Time, i int, p *Compiled) error {
	if i < 0 || i >= len(c.cfg.Links) {
		return fmt.Errorf("install plan: the chain has no strategy %d", i)
	}
	k := &c.links[i]
	c.planDone(now, k)
	if p == nil {
		return fmt.Errorf("install plan of %s: there is no plan; compile one first", k.name)
	}
	if p.plan.Version <= k.version && k.planned != Never {
		return fmt.Errorf("install plan of %s: version %d, newest %d: %w", k.name, p.plan.Version, k.version, ErrStale)
	}
	k.plan, k.version, k.planned = p, p.plan.Version, now
	if p.plan.Next > 0 {
		k.planNext = now.Add(p.plan.Next)
	}
	k.remap(c.workers)
	return nil
}

// PlanFailed ends a task without a plan; the one in force stays, and the next
// is due after an interval.
func (c *Core) PlanFailed(now Time, i int) {
	if i >= 0 && i < len(c.cfg.Links) {
		c.planDone(now, &c.links[i])
	}
}

func (c *Core) planDone(now Time, k *link) {
	k.planning = false
	interval := k.info.Interval
	if interval <= 0 {
		interval = c.cfg.PlanInterval
	}
	k.planNext = now.Add(interval)
}

// PlanAt returns the plan of link i in force and when it was installed; nil if
// there is none. The plan must not be changed.
func (c *Core) PlanAt(i int) (*Plan, Time) {
	if i < 0 || i >= len(c.cfg.Links) || c.links[i].plan == nil {
		return nil, Never
	}
	return c.links[i].plan.plan, c.links[i].planned
}

// Rate returns the key's request rate as this gateway sees it, in req/s.
func (c *Core) Rate(now Time, key uint64) float64 { return c.rates.Rate(int64(now), key) }
