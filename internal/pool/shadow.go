package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

const (
	// maxFollowed bounds the requests that one shadow follows at a time.
	maxFollowed = 4096
	// shadowPatience is how long a shadow may take to decide.
	shadowPatience = time.Second
)

// Shadow asks a set's strategies about the requests that another set serves, off
// their path. What the strategies know of loads and keys follows from their own
// choices: each request counts at the worker that they chose for as long as it
// really ran. It is safe for concurrent use.
type Shadow struct {
	set     *Set
	metrics *telemetry.ShadowMetrics // nil: nobody counts
	ctx     context.Context
	stop    context.CancelFunc
	room    chan struct{} // one token per request that is followed
	running sync.WaitGroup

	mu           sync.Mutex
	closed       bool
	counts       ShadowReport
	chosen, live load // by the shadow and in truth
}

// NewShadow returns a shadow of which SetShadows may be told. Close ends it; the
// set is the caller's.
func NewShadow(set *Set, metrics *telemetry.ShadowMetrics) *Shadow {
	s := &Shadow{set: set, metrics: metrics, room: make(chan struct{}, maxFollowed)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close gives up what the shadow follows.
func (s *Shadow) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.running.Wait()
}

// see takes a request on that a worker was found for, or drops it if too many
// are followed.
func (s *Shadow) see(pool string, r router.Request, worker string, e *echo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.room <- struct{}{}:
		s.running.Go(func() {
			s.follow(pool, r, worker, e)
			<-s.room
		})
	default:
		s.drop()
	}
}

// follow decides one request and books it until it has ended in truth.
func (s *Shadow) follow(pool string, r router.Request, worker string, e *echo) {
	p := s.set.Pools()[pool]
	if p == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop()
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, shadowPatience)
	a, err := p.Acquire(ctx, r)
	cancel()
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ctx.Err() == nil {
			s.drop()
		}
		return
	}
	s.compare(pool, &r, a, worker)
	select {
	case <-e.first:
		a.FirstToken()
	case <-e.ended:
	case <-s.ctx.Done():
	}
	select {
	case <-e.ended:
		a.Finish(e.ending, 0)
	case <-s.ctx.Done():
		a.Finish(router.Ending{Outcome: router.Cancelled}, 0)
	}
}

// drop counts a request that was not decided. The lock is held.
func (s *Shadow) drop() {
	s.counts.Dropped++
	if s.metrics != nil {
		s.metrics.Dropped()
	}
}

// compare holds the shadow's choice against the one that was made.
func (s *Shadow) compare(pool string, r *router.Request, a *Assignment, worker string) {
	now, own := time.Now(), a.Worker().ID
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.counts
	c.Decisions++
	if own == worker {
		c.Agreed++
	}
	if f := a.Receipt().Fallback; f == "missed" || f == "skipped" {
		c.Missed++
	}
	c.PromptTokens += int64(r.PromptTokens)
	computed, really := s.chosen.take(now, pool, own, r), s.live.take(now, pool, worker, r)
	c.Computed, c.LiveComputed = c.Computed+int64(computed), c.LiveComputed+int64(really)
	if s.metrics != nil {
		s.metrics.Decided(own == worker, computed, really)
		s.metrics.SetImbalance(s.chosen.imbalance(s.workers), s.live.imbalance(s.workers))
	}
}

// workers returns how many workers of a pool are up.
func (s *Shadow) workers(pool string) (up int) {
	for _, m := range s.set.snapshot.Load().Pools()[pool] {
		if !m.Down {
			up++
		}
	}
	return up
}

// ShadowReport is what a shadow has seen since it began.
type ShadowReport struct {
	Chain     []string // strategies in order
	Decisions uint64   // requests that it decided
	Agreed    uint64   // of them: for the worker that really served
	Missed    uint64   // of them: past a strategy that was asked in vain, or not any more
	Dropped   uint64   // requests that it could not decide, or not in time

	// Of the requests per worker lately, the most over the mean.
	Imbalance, LiveImbalance float64
	// Prompt tokens of the decided requests, and those of them that a worker would
	// have to compute by the shadow's choices and by the live ones, as far as what
	// was sent to each worker before tells.
	PromptTokens, Computed, LiveComputed int64
}

// Report returns what the shadow has seen.
func (s *Shadow) Report() ShadowReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.counts
	all := s.set.Strategies()
	r.Chain = all[:len(all)-1] // without the built-in one
	r.Imbalance, r.LiveImbalance = s.chosen.imbalance(s.workers), s.live.imbalance(s.workers)
	return r
}

// audience is the shadows that see the requests of a set's pools.
type audience struct{ shadows atomic.Pointer[[]*Shadow] }

// SetShadows has the shadows see every request that gets a worker from now on.
func (s *Set) SetShadows(shadows ...*Shadow) { s.audience.shadows.Store(&shadows) }

// echo tells shadows how a request goes on; nil if there are none.
type echo struct {
	first, ended       chan struct{}
	firstOnce, endOnce sync.Once
	ending             router.Ending
}

func (a *audience) see(pool string, r router.Request, worker string) *echo {
	if a == nil {
		return nil
	}
	shadows := a.shadows.Load()
	if shadows == nil || len(*shadows) == 0 {
		return nil
	}
	e := &echo{first: make(chan struct{}), ended: make(chan struct{})}
	for _, s := range *shadows {
		s.see(pool, r, worker, e)
	}
	return e
}

func (e *echo) firstToken() {
	if e != nil {
		e.firstOnce.Do(func() { close(e.first) })
	}
}

func (e *echo) end(ending router.Ending) {
	if e != nil {
		e.endOnce.Do(func() {
			e.ending = ending
			close(e.ended)
		})
	}
}
