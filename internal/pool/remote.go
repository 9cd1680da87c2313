package pool

import (
	"context"
	"sync"
	"sync/atomic"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// remote is a pool's instance of a strategy, or the place for it while the
// strategy's process has not come up yet.
type remote struct {
	instance atomic.Pointer[plugin.Instance]

	aligning sync.Mutex
	trouble  string // why there is no instance, as it was logged last
}

func (r *remote) info() router.Info {
	if i := r.instance.Load(); i != nil {
		return i.Info()
	}
	return router.Info{}
}

// close gives the instance up. That it could not be told is no matter: it goes
// with its process.
func (r *remote) close() {
	if i := r.instance.Swap(nil); i != nil {
		_ = i.Close()
	}
}

func (r *remote) RouteContext(ctx context.Context, in router.Input, tc plugin.TraceContext) (router.Decision, error) {
	if i := r.instance.Load(); i != nil {
		return i.RouteContext(ctx, in, tc)
	}
	return router.Decision{}, plugin.ErrDown
}

func (r *remote) PlanContext(ctx context.Context, in router.PlanInput, tc plugin.TraceContext) (router.Plan, error) {
	if i := r.instance.Load(); i != nil {
		return i.PlanContext(ctx, in, tc)
	}
	return router.Plan{}, plugin.ErrDown
}

func (r *remote) ObserveContext(ctx context.Context, events []router.Event) error {
	if i := r.instance.Load(); i != nil {
		return i.ObserveContext(ctx, events)
	}
	return plugin.ErrDown
}
