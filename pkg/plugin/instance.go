package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// opening is what an instance is opened with.
type opening struct {
	strategy string
	options  router.Options
	seed     uint64
	pool     string
}

// remote is an instance in one process.
type remote struct {
	process *Process
	id      uint64
	info    router.Info
	lane    *lane // nil if the strategy neither routes nor observes
	kept    atomic.Pointer[keptTable]
}

// Open opens an instance of the spec's strategy for a pool.
func (p *Process) Open(ctx context.Context, options router.Options, seed uint64, pool string) (*Instance, error) {
	strategy, err := p.strategy()
	if err != nil {
		return nil, err
	}
	o := opening{strategy, maps.Clone(options), seed, pool}
	r, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return newInstance(o, r, nil), nil
}

func (p *Process) open(ctx context.Context, o opening) (*remote, error) {
	ctx, cancel := within(ctx, p.spec.CallTimeout)
	defer cancel()
	m, err := p.rpc.Open(ctx, &wire.OpenRequest{
		Strategy: o.strategy, Options: wire.EncodeOptions(o.options), Seed: o.seed, Pool: wire.Text(o.pool),
	})
	if err != nil {
		return nil, p.failed("open", callError(ctx, err))
	}
	if err := decodeError(m.GetError()); err != nil {
		return nil, p.failed("open", err)
	}
	r := &remote{process: p, id: m.GetInstance()}
	if r.info, err = wire.DecodeInfo(m.GetInfo()); err != nil {
		return nil, p.failed("open", tag(ErrInvalid, err))
	}
	if r.info.Routes || len(r.info.Observes) > 0 {
		if r.lane, err = openLane(ctx, p.rpc, r.id, p.gotSpans, p.laneBroke); err != nil {
			return nil, p.failed("open", err)
		}
	}
	return r, nil
}

func (p *Process) gotSpans(ms []*wire.Span) {
	if spans := decodeSpans(ms); len(spans) > 0 {
		p.spec.OnSpans(p.spec.Name, spans)
	}
}

func (p *Process) failed(what string, err error) error {
	return fmt.Errorf("plugin %s: %s: %w", p.spec.Name, what, err)
}

func (r *remote) close() error {
	if r.lane != nil {
		r.lane.close()
	}
	ctx, cancel := within(context.Background(), r.process.spec.StopTimeout)
	defer cancel()
	m, err := r.process.rpc.Close(ctx, &wire.CloseRequest{Instance: r.id})
	if err != nil {
		err = callError(ctx, err)
	} else {
		err = decodeError(m.GetError())
	}
	if err != nil && !errors.Is(err, ErrDown) {
		return r.process.failed("close", err)
	}
	return nil
}

// within returns ctx with a deadline: its own, or else d from now.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// Instance is one configured strategy in a plugin. It implements
// router.Instance, Strategy, Planner and Observer; its Info says which of them
// may be called. It may be used from many goroutines; routes and events reach
// the strategy one at a time, in the order of the calls.
type Instance struct {
	opening opening
	forget  func(*Instance) // told when it is closed; may be nil
	mu      sync.Mutex
	closed  bool
	now     atomic.Pointer[remote] // nil while the process is down
	info    atomic.Pointer[router.Info]
}

func newInstance(o opening, r *remote, forget func(*Instance)) *Instance {
	i := &Instance{opening: o, forget: forget}
	i.adopt(r)
	return i
}

// adopt makes r, which may be nil, do the work. It reports false if the
// instance is closed.
func (i *Instance) adopt(r *remote) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return false
	}
	if r != nil {
		i.info.Store(&r.info)
	}
	i.now.Store(r)
	return true
}

// remote returns the instance at work, or ErrDown.
func (i *Instance) remote() (*remote, error) {
	if r := i.now.Load(); r != nil {
		return r, nil
	}
	return nil, tag(ErrDown, fmt.Errorf("plugin instance of %s is down", i.opening.strategy))
}

// Info returns what the strategy last said it does and needs.
func (i *Instance) Info() router.Info { return *i.info.Load() }

// Route decides within Spec.RouteTimeout. If that fails, it passes, with one of
// the reasons "plugin down", "plugin late", "plugin busy" and "plugin error".
func (i *Instance) Route(in router.Input) router.Decision {
	d, err := i.RouteContext(context.Background(), in, TraceContext{})
	switch {
	case err == nil:
		return d
	case errors.Is(err, ErrDown):
		return router.Decision{Reason: "plugin down"}
	case errors.Is(err, ErrLate):
		return router.Decision{Reason: "plugin late"}
	case errors.Is(err, ErrBusy):
		return router.Decision{Reason: "plugin busy"}
	}
	return router.Decision{Reason: "plugin error"}
}

// Plan plans within Spec.CallTimeout.
func (i *Instance) Plan(in router.PlanInput) (router.Plan, error) {
	return i.PlanContext(context.Background(), in, TraceContext{})
}

// Observe reports events, as ObserveContext does; events that do not get
// through are lost.
func (i *Instance) Observe(events []router.Event) {
	_ = i.ObserveContext(context.Background(), events)
}

// RouteContext decides one request, until the context's deadline or else within
// Spec.RouteTimeout. The input is not kept. Placements are within range; the
// core checks the rest of the ranking.
func (i *Instance) RouteContext(ctx context.Context, in router.Input, tc TraceContext) (router.Decision, error) {
	r, err := i.remote()
	if err != nil {
		return router.Decision{}, err
	}
	if !r.info.Routes {
		return router.Decision{}, r.process.failed("route", ErrUnsupported)
	}
	ctx, cancel := within(ctx, r.process.spec.RouteTimeout)
	defer cancel()
	answer, err := r.lane.route(ctx, &in, tc)
	if err == nil {
		err = decodeError(answer.GetError())
	}
	if err != nil {
		return router.Decision{}, r.process.failed("route", err)
	}
	d, err := wire.DecodeDecision(answer.GetDecision(), len(in.Workers))
	if err != nil {
		return router.Decision{}, r.process.failed("route", fmt.Errorf("%w answer: %w", ErrInvalid, err))
	}
	return d, nil
}

// ObserveContext reports events. It returns as soon as they are queued behind
// the routes and events before them; it never waits, and fails with ErrBusy
// when too much is queued.
func (i *Instance) ObserveContext(ctx context.Context, events []router.Event) error {
	r, err := i.remote()
	if err != nil {
		return err
	}
	if r.lane == nil || len(events) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.lane.observe(events); err != nil {
		return r.process.failed("observe", err)
	}
	return nil
}

// Close closes the instance in its process and waits for that, at most
// Spec.StopTimeout. Calls under way and later ones fail with ErrDown.
func (i *Instance) Close() error {
	i.mu.Lock()
	again := i.closed
	i.closed = true
	i.mu.Unlock()
	r := i.now.Swap(nil)
	if i.forget != nil && !again {
		i.forget(i)
	}
	if r == nil {
		return nil
	}
	return r.close()
}
