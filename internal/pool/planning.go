package pool

import (
	"context"
	"errors"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// tickEvery is how often the pool looks at what time alone brings.
const tickEvery = 100 * time.Millisecond

// tick has the core expire, wake and plan as time passes, and hands events to
// the strategies that observe.
func (p *Pool) tick() {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	observers := p.observers()
	defer func() {
		for _, ch := range observers {
			close(ch)
		}
	}()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.nudge:
		case <-ticker.C:
		}
		p.do(func(c *router.Core, now router.Time) {
			if expired := c.Tick(now); expired > 0 {
				p.log.Warn("requests whose ending was never reported were released", "count", expired)
			}
			p.measure(c.Dropped())
		})
		p.plan()
		p.observe(observers)
	}
}

// measure puts what the pool has learned and forgotten into metrics. The lock is held.
func (p *Pool) measure(now router.Dropped) {
	p.depth.Evicted(now.Blocks-p.dropped.Blocks, now.Holds-p.dropped.Holds)
	p.dropped = now
	if ratio, learned := p.bytes.perByte(); learned {
		p.depth.SetTokensPerByte(ratio)
	}
}

// plan starts the plans that are due. Without the lease they are left to the
// gateway that has it, and stay due.
func (p *Pool) plan() {
	p.mu.Lock()
	if !p.planner() {
		p.mu.Unlock()
		return
	}
	tasks, fence := p.core.PlansDue(p.now()), p.fence
	first := fence
	if fence > 0 {
		first += uint64(time.Since(p.fenced).Microseconds())
	}
	p.mu.Unlock()
	for _, t := range tasks {
		// A fence is never below the store's clock in microseconds. Versions that go
		// with that clock grow over changes of the planner, and over all that a
		// gateway without the store counted up alone.
		t.Version = max(t.Version, first)
		p.run(func() { p.make(t, fence) })
	}
}

// make has one plan made and puts it in force.
func (p *Pool) make(t router.PlanTask, fence uint64) {
	ctx, cancel := context.WithTimeout(p.ctx, p.cfg.PlanTimeout)
	defer cancel()
	m := p.cfg.Telemetry.Metrics.Plan(p.name, t.Name)
	ctx, span := p.cfg.Telemetry.StartPlan(ctx, p.name, t.Name)
	start := time.Now()
	plan, err := p.chain[t.Link].Strategy.PlanContext(ctx, t.Input(), plugin.TraceContext(span.Ref()))
	if err != nil {
		p.planFailed(t, span, telemetry.PlanFailed, err)
		return
	}
	m.Planned(time.Since(start))
	plan.Version = t.Version
	compiled, err := router.Compile(&plan)
	if err != nil {
		p.planFailed(t, span, telemetry.PlanInvalid, err)
		return
	}
	p.known[t.Link].planned.Store(true)
	if fence > 0 {
		if err := p.publish(ctx, t.Name, fence, &plan); err != nil {
			p.planFailed(t, span, telemetry.PlanStale, err)
			return
		}
	}
	if err := p.install(t.Link, compiled, span.Ref()); err != nil {
		span.End(telemetry.PlanStale, plan.Version, len(plan.Table.Keys), err)
		m.Dropped(telemetry.PlanStale)
		return
	}
	span.End(telemetry.PlanInstalled, plan.Version, len(plan.Table.Keys), nil)
}

func (p *Pool) planFailed(t router.PlanTask, span telemetry.PlanSpan, result telemetry.PlanResult, err error) {
	p.mu.Lock()
	p.core.PlanFailed(p.now(), t.Link)
	p.known[t.Link].misplanned++
	p.known[t.Link].failure = err
	p.mu.Unlock()
	span.End(result, t.Version, 0, err)
	p.cfg.Telemetry.Metrics.Plan(p.name, t.Name).Dropped(result)
	if p.ctx.Err() == nil && !errors.Is(err, plugin.ErrDown) {
		p.log.Warn("no new plan; the one in force stays", "strategy", t.Name, "result", result, "error", err)
	}
}

func (p *Pool) install(link int, c *router.Compiled, made telemetry.SpanRef) error {
	p.mu.Lock()
	err := p.core.Install(p.now(), link, c)
	if err == nil {
		p.known[link].misplanned = 0
	}
	p.mu.Unlock()
	if err == nil {
		plan := c.Plan()
		p.known[link].plan.Store(&madePlan{plan.Version, made})
		p.cfg.Telemetry.Metrics.Plan(p.name, p.chain[link].Name).Installed(plan.Version, len(plan.Table.Keys), time.Now())
		p.log.Debug("plan in force", "strategy", p.chain[link].Name, "version", plan.Version, "keys", len(plan.Table.Keys), "note", plan.Note)
	}
	return err
}

// observers starts one goroutine per strategy, so that a slow one delays no
// other and each sees its events in order.
func (p *Pool) observers() []chan []router.Event {
	out := make([]chan []router.Event, len(p.chain))
	for i := range p.chain {
		out[i] = make(chan []router.Event, 1)
		p.run(func() {
			for events := range out[i] {
				ctx, cancel := context.WithTimeout(p.ctx, time.Second)
				if err := p.chain[i].Strategy.ObserveContext(ctx, events); err != nil && p.ctx.Err() == nil {
					p.log.Debug("a strategy missed events", "strategy", p.chain[i].Name, "events", len(events), "error", err)
				}
				cancel()
			}
		})
	}
	return out
}

// observe hands pending events over; while a strategy is busy they stay in the
// core, which bounds them.
func (p *Pool) observe(to []chan []router.Event) {
	for i, ch := range to {
		if len(ch) > 0 {
			continue
		}
		p.mu.Lock()
		events := p.core.TakeEvents(i, nil)
		p.mu.Unlock()
		if len(events) > 0 {
			ch <- events
		}
	}
}
