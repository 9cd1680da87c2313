package main

import (
	"context"
	"errors"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// faithful is an instance in a plugin whose every answer counts: an answer that
// a gateway would do without makes a simulation irreproducible, so it ends the
// comparison.
type faithful struct {
	*plugin.Instance
	ctx  context.Context // of the comparison
	fail context.CancelCauseFunc
}

// Route decides one request.
func (f *faithful) Route(in router.Input) router.Decision {
	d, err := f.RouteContext(f.ctx, in, plugin.TraceContext{})
	if err != nil {
		f.fail(err)
	}
	return d
}

// Plan makes a plan. A refusal by the strategy itself is a result like any other.
func (f *faithful) Plan(in router.PlanInput) (router.Plan, error) {
	plan, err := f.PlanContext(f.ctx, in, plugin.TraceContext{})
	if err != nil && !errors.Is(err, plugin.ErrStrategy) {
		f.fail(err)
	}
	return plan, err
}

// Observe reports events; it waits while too many are under way.
func (f *faithful) Observe(events []router.Event) {
	const pause = time.Millisecond
	err := f.ObserveContext(f.ctx, events)
	for errors.Is(err, plugin.ErrBusy) && f.ctx.Err() == nil {
		<-time.After(pause)
		err = f.ObserveContext(f.ctx, events)
	}
	if err != nil {
		f.fail(err)
	}
}
