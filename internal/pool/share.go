package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state"
)

const (
	// planLife is how long a published plan outlives its planner.
	planLife = time.Hour
	// writeTimeout bounds the storing of facts, and of one plan.
	writeTimeout = time.Second
)

// write stores shared facts, in the background and in order. What has gathered
// travels together.
func (p *Pool) write() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case facts := <-p.writes:
			for more := true; more && len(facts) < state.MaxFacts; {
				select {
				case next := <-p.writes:
					facts = append(facts, next...)
				default:
					more = false
				}
			}
			p.store(facts)
		}
	}
}

// store writes facts to the store. One that no store keeps must not take the
// others with it: a strategy of someone else may have written it.
func (p *Pool) store(facts []router.Write) {
	good := facts[:0]
	for i := range facts {
		if err := state.CheckWrites(p.name, facts[i:i+1]); err != nil {
			p.log.Debug("a shared fact was refused", "error", err)
			continue
		}
		good = append(good, facts[i])
	}
	for len(good) > 0 {
		part := good[:min(len(good), state.MaxFacts)]
		good = good[len(part):]
		ctx, cancel := context.WithTimeout(p.ctx, writeTimeout)
		if err := p.cfg.Store.Write(ctx, p.name, part); err != nil && p.ctx.Err() == nil {
			p.log.Debug("shared facts were not stored", "count", len(part), "error", err)
		}
		cancel()
	}
}

// publish makes a plan the one of all gateways.
func (p *Pool) publish(ctx context.Context, strategy string, fence uint64, plan *router.Plan) error {
	b, err := plugin.MarshalPlan(plan)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err = p.cfg.Store.PublishPlan(ctx, p.name, strategy, state.Plan{Version: plan.Version, Fence: fence, Bytes: b}, planLife)
	if errors.Is(err, state.ErrStale) {
		return fmt.Errorf("publish plan %d: %w", plan.Version, err)
	}
	if err != nil {
		// The store is away: the plan is good all the same, for this gateway.
		p.log.Debug("a plan was not published", "strategy", strategy, "error", err)
	}
	return nil
}

// adopt puts newer plans of the fleet's planner in force.
func (p *Pool) adopt(ctx context.Context) {
	for i, l := range p.chain {
		p.mu.Lock()
		known := uint64(0)
		if plan, _ := p.core.PlanAt(i); plan != nil {
			known = plan.Version
		}
		p.mu.Unlock()
		stored, ok, err := p.cfg.Store.LatestPlan(ctx, p.name, l.Name, known)
		if err != nil || !ok {
			continue
		}
		compiled, err := compile(stored)
		if err != nil {
			p.refuse("plan of strategy "+l.Name, fmt.Sprint(stored.Version), err)
			p.cfg.Telemetry.Metrics.Plan(p.name, l.Name).Dropped(telemetry.PlanInvalid)
			continue
		}
		if err := p.install(i, compiled, telemetry.SpanRef{}); err != nil {
			p.cfg.Telemetry.Metrics.Plan(p.name, l.Name).Dropped(telemetry.PlanStale)
		}
	}
}

func compile(stored state.Plan) (*router.Compiled, error) {
	plan, err := plugin.UnmarshalPlan(stored.Bytes)
	if err != nil {
		return nil, err
	}
	plan.Version = stored.Version
	return router.Compile(&plan)
}

// refuse logs that something in the store makes no sense, once for each: it is
// found there again at every exchange.
func (p *Pool) refuse(what, version string, err error) {
	if said := version + err.Error(); p.refused[what] != said {
		if len(p.refused) > state.MaxGateways {
			clear(p.refused)
		}
		p.refused[what] = said
		p.log.Warn("what another gateway shares was refused", "what", what, "error", err)
	}
}
