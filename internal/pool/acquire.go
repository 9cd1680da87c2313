package pool

import (
	"context"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// Refused is the error of a request that got no worker.
type Refused struct{ router.Refusal }

// Error returns the refusal's code and reason.
func (r *Refused) Error() string { return r.Code.String() + ": " + r.Reason }

// Assignment is a request with the worker it got. It must be ended by Finish,
// unless Retry returned an error. It is for one goroutine.
type Assignment struct {
	pool    *Pool
	ticket  router.Ticket
	worker  router.WorkerRef
	rank    int
	receipt router.Receipt
	echo    *echo
}

// Worker returns the worker to send the request to.
func (a *Assignment) Worker() router.WorkerRef { return a.worker }

// Rank returns the data-parallel rank + 1 to ask for, 0 for any.
func (a *Assignment) Rank() int { return a.rank }

// Receipt says why this worker.
func (a *Assignment) Receipt() router.Receipt { return a.receipt }

// Acquire finds a worker for the request, asking strategies and waiting in the
// queue as needed. It fails with *Refused, or with the context's error when
// the client goes away.
func (p *Pool) Acquire(ctx context.Context, r router.Request) (*Assignment, error) {
	a := &Assignment{pool: p}
	if err := a.follow(ctx, func(c *router.Core, now router.Time) router.Step { return c.Arrive(now, r) }); err != nil {
		return nil, err
	}
	a.echo = p.cfg.audience.see(p.name, r, a.worker.ID)
	return a, nil
}

// Retry gives up the worker before any byte of its answer was used, and finds
// another one. With an error the request's life has ended.
func (a *Assignment) Retry(ctx context.Context) error {
	p := a.pool
	err := a.follow(ctx, func(c *router.Core, now router.Time) router.Step {
		p.left(a.worker.ID)
		return c.Retry(now, a.ticket)
	})
	if err != nil {
		a.echo.end(router.Ending{Outcome: router.Failed})
		return err
	}
	p.cfg.Telemetry.Metrics.Retried()
	return nil
}

// Pause reports that the worker refused the request because it has too much to do, and
// for how long it asks to be left alone, 0 if it does not say. Retry or Finish follows.
func (a *Assignment) Pause(asked time.Duration) {
	a.pool.do(func(c *router.Core, now router.Time) { c.Pause(now, a.ticket, asked) })
	a.pool.cfg.Telemetry.Metrics.Worker(a.worker.ID).Paused()
}

// FirstToken reports that the worker's first token came.
func (a *Assignment) FirstToken() {
	a.echo.firstToken()
	a.pool.do(func(c *router.Core, now router.Time) { c.FirstToken(now, a.ticket) })
}

// Finish ends the request's life. promptBytes is the length of the prompt's
// canonical text; with the worker's usage it teaches the pool how many tokens
// a byte makes.
func (a *Assignment) Finish(e router.Ending, promptBytes int) {
	a.echo.end(e)
	a.pool.do(func(c *router.Core, now router.Time) {
		a.pool.left(a.worker.ID)
		c.Finish(now, a.ticket, e)
	})
	if e.Outcome == router.Completed {
		a.pool.bytes.learn(e.Usage.PromptTokens, promptBytes)
	}
}

// left takes a request off the count of those sent to a worker. The lock is held.
func (p *Pool) left(worker string) {
	if p.sent[worker]--; p.sent[worker] <= 0 {
		delete(p.sent, worker)
	}
}

// follow performs steps until a worker is found, under one decision span.
func (a *Assignment) follow(ctx context.Context, begin func(c *router.Core, now router.Time) router.Step) error {
	p := a.pool
	ctx, span := p.cfg.Telemetry.StartDecision(ctx)
	w := walk{pool: p, span: span}
	start := time.Now()
	var s router.Step
	p.step(&s, begin)
	for {
		switch s.Kind {
		case router.DoAsk:
			w.ask(ctx, &s)
			continue
		case router.DoFetch:
			p.fetch(ctx, &s)
			continue
		case router.DoWait:
			waits := time.Now()
			p.wait(ctx, &s)
			w.waited += time.Since(waits)
			continue
		}
		break
	}
	m := p.cfg.Telemetry.Metrics
	m.Overhead(telemetry.StageDecide, time.Since(start)-w.waited)
	if w.waited > 0 {
		m.Overhead(telemetry.StageQueue, w.waited)
	}
	switch s.Kind {
	case router.DoDispatch:
		w.decided(&s)
		a.ticket, a.worker, a.rank, a.receipt = s.Ticket, s.Worker, s.Rank, s.Receipt
		return nil
	case router.DoRefuse:
		span.End(telemetry.DecisionResult{Verdict: "refuse", Reason: s.Refusal.Code.String()})
		m.Refused(s.Refusal.Code)
		return &Refused{s.Refusal}
	default: // the life has ended without a step: its client left, or it expired
		span.End(telemetry.DecisionResult{Verdict: "cancelled"})
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return &Refused{router.Refusal{Code: router.NoWorker, Reason: "the request's life expired while it waited"}}
	}
}

// fetch reads shared facts within the step's deadline. Without an answer the
// request goes on without them.
func (p *Pool) fetch(ctx context.Context, s *router.Step) {
	limit, cancel := context.WithTimeout(ctx, p.cfg.Core.FetchDeadline)
	defer cancel()
	facts, err := p.cfg.Store.Facts(limit, p.name, s.Facts)
	if ctx.Err() != nil {
		p.abandon(s)
		return
	}
	result := "hit"
	switch {
	case limit.Err() != nil && err != nil:
		result = "late"
	case err != nil:
		result = "error"
	case len(facts) == 0:
		result = "miss"
	}
	p.cfg.Telemetry.Metrics.State.HoldLookup(result)
	p.step(s, func(c *router.Core, now router.Time) router.Step { return c.Fetched(now, s.Ticket, facts) })
}

// wait keeps the request in the queue until it is woken, its time is up or its
// client leaves.
func (p *Pool) wait(ctx context.Context, s *router.Step) {
	id := s.Ticket.ID
	p.mu.Lock()
	ch := p.waiters[id]
	p.mu.Unlock()
	start := time.Now()
	timer := time.NewTimer(s.Deadline.Sub(p.now()))
	defer timer.Stop()
	select {
	case *s = <-ch:
	case <-timer.C:
		p.step(s, func(c *router.Core, now router.Time) router.Step { return c.Timeout(now, s.Ticket) })
		if s.Kind == router.DoNothing { // woken at the same moment
			p.woken(ch, s)
		}
	case <-ctx.Done():
		p.leave(s, ch)
	}
	if s.Kind != router.DoWait {
		p.mu.Lock()
		delete(p.waiters, id)
		p.mu.Unlock()
		p.depth.Waited(time.Since(start))
	}
}

// woken takes the step that woke the request, if there is one.
func (p *Pool) woken(ch chan router.Step, s *router.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	newest(s, ch)
}

// newest takes the step that woke a request, if there is one, instead of the one that it
// waits with. The lock is held: what wakes a request does it under the lock.
func newest(s *router.Step, ch chan router.Step) {
	select {
	case *s = <-ch:
	default:
	}
}

// abandon ends the life of a request whose client has left.
func (p *Pool) abandon(s *router.Step) { p.leave(s, nil) }

// leave is abandon for a request in the queue, which may be woken at any moment.
func (p *Pool) leave(s *router.Step, ch chan router.Step) {
	p.do(func(c *router.Core, now router.Time) {
		if newest(s, ch); s.Kind == router.DoDispatch {
			p.left(s.Worker.ID)
		}
		c.Finish(now, s.Ticket, router.Ending{Outcome: router.Cancelled})
	})
	*s = router.Step{}
}
