package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state"
)

// Strategy is a strategy in a process of its own. All calls end with their
// context, and fail fast while the process is away.
type Strategy interface {
	RouteContext(ctx context.Context, in router.Input, tc plugin.TraceContext) (router.Decision, error)
	PlanContext(ctx context.Context, in router.PlanInput, tc plugin.TraceContext) (router.Plan, error)
	ObserveContext(ctx context.Context, events []router.Event) error
}

// Link is one strategy of the pool's chain.
type Link struct {
	router.Link
	Strategy Strategy
}

// Config sets up a Pool.
type Config struct {
	Gateway string // this gateway's name among its peers
	Core    router.Config
	Chain   []Link
	Store   state.Store
	// Shared says that Store is shared with other gateways.
	Shared bool
	// SyncInterval is the time between two exchanges with a shared store.
	SyncInterval time.Duration
	// PlanTimeout bounds one call of a planner.
	PlanTimeout time.Duration
	Telemetry   *telemetry.Telemetry
	Logger      hclog.Logger

	audience *audience // who is shown the requests; nil: nobody
}

// Pool gives workers of one base model to requests. It is safe for concurrent
// use.
type Pool struct {
	cfg   Config
	name  string
	chain []Link
	known []known // per link
	log   hclog.Logger
	began time.Time
	wg    sync.WaitGroup
	stop  context.CancelFunc
	ctx   context.Context
	nudge chan struct{} // something changed: look at once what is to be done
	heir  chan struct{} // closed when another pool has taken this one's place

	writes  chan []router.Write
	heard   map[string]bool              // peers as of the last exchange; sync's own
	refused map[string]string            // what of the store was refused last; sync's own
	picks   []*telemetry.StrategyMetrics // one per link and the built-in
	depth   *telemetry.PoolMetrics
	bytes   tokens // tokens per byte of prompt text

	mu      sync.Mutex
	core    *router.Core
	waiters map[uint64]chan router.Step
	waiting int                          // as the metrics say
	dropped router.Dropped               // as the metrics say
	sent    map[string]int               // this gateway's requests at each worker
	carried map[string]router.WorkerLoad // what Carry said last
	fence   uint64                       // of the lease held; 0: not the planner
	fenced  time.Time                    // when the fence was given
	solo    bool                         // the store is not shared or away: plan alone
}

// known is what is known of a link's strategy, for spans.
type known struct {
	info    atomic.Pointer[router.Info]
	plan    atomic.Pointer[madePlan]
	planned atomic.Bool // this pool has had a valid plan made

	misplanned int   // plans in a row that failed; under the pool's lock
	failure    error // of the last of them
}

// madePlan is the span of the making of a plan that is in force.
type madePlan struct {
	version uint64
	span    telemetry.SpanRef
}

// New starts a pool. Close ends it.
func New(cfg Config) (*Pool, error) {
	p, err := build(cfg)
	if err != nil {
		return nil, err
	}
	p.start()
	return p, nil
}

// build makes a pool that does nothing by itself yet.
func build(cfg Config) (*Pool, error) {
	cfg.Core.Links = nil
	for _, l := range cfg.Chain {
		cfg.Core.Links = append(cfg.Core.Links, l.Link)
	}
	if cfg.Shared && cfg.Core.PeerLife == 0 {
		cfg.Core.PeerLife = max(minPeerLife, leaseIntervals*cfg.SyncInterval)
	}
	cfg.Core.Alone = !cfg.Shared
	core, err := router.New(cfg.Core)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{
		cfg: cfg, name: cfg.Core.Pool, chain: cfg.Chain, core: core, ctx: ctx, stop: stop, began: time.Now(),
		log:   cfg.Logger.Named("pool").With("pool", cfg.Core.Pool),
		known: make([]known, len(cfg.Chain)),
		nudge: make(chan struct{}, 1), heir: make(chan struct{}), writes: make(chan []router.Write, 256), refused: map[string]string{},
		waiters: map[uint64]chan router.Step{}, sent: map[string]int{},
		depth: cfg.Telemetry.Metrics.Pool(cfg.Core.Pool),
		solo:  !cfg.Shared,
	}
	for i, l := range cfg.Chain {
		p.known[i].info.Store(&l.Info)
		p.picks = append(p.picks, cfg.Telemetry.Metrics.Strategy(l.Name))
	}
	p.picks = append(p.picks, cfg.Telemetry.Metrics.Strategy(router.BuiltIn))
	return p, nil
}

// start begins what the pool does by itself.
func (p *Pool) start() {
	p.run(p.tick)
	p.run(p.write)
	if p.cfg.Shared {
		p.run(p.sync)
	} else {
		p.cfg.Telemetry.Metrics.State.SetUp(true)
		p.depth.SetLeader(true)
	}
}

func (p *Pool) run(f func()) { p.wg.Go(f) }

// Close ends the pool's work and waits for it. Requests that have not ended may
// still do so; they find no plan newer than the one in force.
func (p *Pool) Close() {
	p.stop()
	p.wg.Wait()
}

// now is the wall clock's time at the pool's start and what has passed since, so
// that it does not run backwards.
func (p *Pool) now() router.Time {
	return router.Time(p.began.UnixNano()).Add(time.Since(p.began))
}

// do calls the core under the lock, then hands out what the call set free: steps for
// waiting requests, facts to be written.
func (p *Pool) do(f func(c *router.Core, now router.Time)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	f(p.core, now)
	p.release(now)
}

// step is do for a call that says what a request is to do next, which comes into s. A
// step is large: it is copied as rarely as can be.
func (p *Pool) step(s *router.Step, f func(c *router.Core, now router.Time) router.Step) {
	p.do(func(c *router.Core, now router.Time) {
		*s = f(c, now)
		switch {
		case s.Kind == router.DoDispatch:
			p.sent[s.Worker.ID]++
		case s.Kind == router.DoWait && p.waiters[s.Ticket.ID] == nil:
			p.waiters[s.Ticket.ID] = make(chan router.Step, 1)
		}
	})
}

// release wakes requests that can go on. The lock is held.
func (p *Pool) release(now router.Time) {
	for p.core.Waiting() > 0 {
		s, ok := p.core.Wake(now)
		if !ok {
			break
		}
		if s.Kind == router.DoDispatch {
			p.sent[s.Worker.ID]++
		}
		if ch := p.waiters[s.Ticket.ID]; ch != nil {
			select {
			case <-ch: // an older step that nobody took: superseded
			default:
			}
			ch <- s
		}
	}
	if n := p.core.Waiting(); n != p.waiting {
		p.depth.AddQueued(n - p.waiting)
		p.waiting = n
	}
	if writes := p.core.TakeWrites(nil); len(writes) > 0 {
		select {
		case p.writes <- writes:
		default:
			p.cfg.Telemetry.Metrics.State.SyncFailed()
		}
	}
}

// replan has the pool look at once for plans that are due.
func (p *Pool) replan() {
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// SetStrategy reports that the process of link i is up with this info, or away.
func (p *Pool) SetStrategy(i int, info router.Info, up bool) {
	p.mu.Lock()
	if up {
		p.core.SetInfo(i, info)
		p.known[i].info.Store(&info)
	}
	p.core.SetDown(i, !up)
	p.mu.Unlock()
	if up {
		p.replan()
	}
}

// Lives returns the requests in flight or waiting.
func (p *Pool) Lives() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.Lives()
}

// PlanInForce is a plan with what the pool knows about it.
type PlanInForce struct {
	Strategy  string
	Plan      *router.Plan // not to be changed
	Installed time.Time
	Holds     int
}

// Plans returns the plans in force, in the chain's order.
func (p *Pool) Plans() []PlanInForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	var out []PlanInForce
	for i, l := range p.chain {
		if plan, at := p.core.PlanAt(i); plan != nil {
			out = append(out, PlanInForce{l.Name, plan, time.Now().Add(-now.Sub(at)), p.core.Holds(i)})
		}
	}
	return out
}

// IsPlanner reports whether this gateway makes the pool's plans now.
func (p *Pool) IsPlanner() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.planner()
}

// planner is IsPlanner with the lock held.
func (p *Pool) planner() bool { return !p.replaced() && (p.solo || p.fence > 0) }
