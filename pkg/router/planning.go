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
	peers   [][]estimator.Rate
	now     Time
}

// Input builds the planner's input: rates of all gateways, merged.
func (t PlanTask) Input() PlanInput {
	in := t.input
	if t.own != nil {
		merged := estimator.Merge(append([][]estimator.Rate{t.own.At(int64(t.now), 0)}, t.peers...)...)
		in.Rates = make([]KeyRate, len(merged))
		for i, r := range merged {
			in.Rates[i] = KeyRate{Key: r.Key, Rate: r.PerSecond, Tokens: r.Tokens}
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
	t := PlanTask{Link: i, Name: k.name, Version: 1, now: now}
	t.input = PlanInput{
		Now: now, Pool: c.cfg.Pool, Seed: Mix(c.cfg.Seed ^ uint64(i) ^ Mix(uint64(now))),
		Fleet: Fleet{Number: c.fleet}, TotalRate: c.total.Rate(int64(now)),
	}
	t.input.OutputTokens, _ = c.output.Value()
	t.input.PromptTokens, _ = c.prompt.Value()
	for _, p := range c.peers {
		t.input.TotalRate += p.snapshot.TotalRate
	}
	for _, w := range c.workers {
		if !w.info.Down {
			t.input.Fleet.Workers = append(t.input.Fleet.Workers, w.shown(now, c))
		}
	}
	if k.plan != nil {
		t.Version = k.plan.plan.Version + 1
		t.input.Previous, t.input.PreviousAge = k.plan.plan, now.Sub(k.planned)
	}
	if k.info.Rates {
		t.own = c.rates.Freeze()
		for _, name := range c.peerNames() {
			t.peers = append(t.peers, c.peers[name].snapshot.Rates)
		}
	}
	return t
}

// Install puts a plan in force. It fails with ErrStale, and changes nothing,
// if the plan in force has the same or a newer version.
func (c *Core) Install(now Time, i int, p *Compiled) error {
	if i < 0 || i >= len(c.cfg.Links) {
		return fmt.Errorf("install plan: the chain has no strategy %d", i)
	}
	k := &c.links[i]
	c.planDone(now, k)
	if k.plan != nil && p.plan.Version <= k.plan.plan.Version {
		return fmt.Errorf("install plan of %s: version %d, in force %d: %w", k.name, p.plan.Version, k.plan.plan.Version, ErrStale)
	}
	k.plan, k.planned = p, now
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
