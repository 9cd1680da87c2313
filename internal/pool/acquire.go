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
	pool *Pool
	step router.Step
	echo *echo
}

// Worker returns the worker to send the request to.
func (a *Assignment) Worker() router.WorkerRef { return a.step.Worker }

// Rank returns the data-parallel rank + 1 to ask for, 0 for any.
func (a *Assignment) Rank() int { return a.step.Rank }

// Receipt says why this worker.
func (a *Assignment) Receipt() router.Receipt { return a.step.Receipt }

// Acquire finds a worker for the request, asking strategies and waiting in the
// queue as needed. It fails with *Refused, or with the context's error when
// the client goes away.
func (p *Pool) Acquire(ctx context.Context, r router.Request) (*Assignment, error) {
	a, err := p.follow(ctx, func(c *router.Core, now router.Time) router.Step { return c.Arrive(now, r) })
	if err == nil {
		a.echo = p.cfg.audience.see(p.name, r, a.Worker().ID)
	}
	return a, err
}

// Retry gives up the worker before any byte of its answer was used, and finds
// another one. With an error the request's life has ended.
func (a *Assignment) Retry(ctx context.Context) error {
	p := a.pool
	next, err := p.follow(ctx, func(c *router.Core, now router.Time) router.Step {
		p.left(a.step.Worker.ID)
		return c.Retry(now, a.step.Ticket)
	})
	if err != nil {
		a.echo.end(router.Ending{Outcome: router.Failed})
		return err
	}
	p.cfg.Telemetry.Metrics.Retried()
	a.step = next.step
	return nil
}

// Pause reports that the worker refused the request because it has too much to do, and
// for how long it asks to be left alone, 0 if it does not say. Retry or Finish follows.
func (a *Assignment) Pause(asked time.Duration) {
	a.pool.with(func(c *router.Core, now router.Time) router.Step {
		c.Pause(now, a.step.Ticket, asked)
		return router.Step{}
	})
	a.pool.cfg.Telemetry.Metrics.Worker(a.step.Worker.ID).Paused()
}

// FirstToken reports that the worker's first token came.
func (a *Assignment) FirstToken() {
	a.echo.firstToken()
	a.pool.with(func(c *router.Core, now router.Time) router.Step {
		c.FirstToken(now, a.step.Ticket)
		return router.Step{}
	})
}

// Finish ends the request's life. promptBytes is the length of the prompt's
// canonical text; with the worker's usage it teaches the pool how many tokens
// a byte makes.
func (a *Assignment) Finish(e router.Ending, promptBytes int) {
	a.echo.end(e)
	a.pool.with(func(c *router.Core, now router.Time) router.Step {
		a.pool.left(a.step.Worker.ID)
		c.Finish(now, a.step.Ticket, e)
		return router.Step{}
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
func (p *Pool) follow(ctx context.Context, begin func(c *router.Core, now router.Time) router.Step) (*Assignment, error) {
	ctx, span := p.cfg.Telemetry.StartDecision(ctx)
	w := walk{pool: p, span: span}
	start := time.Now()
	s := p.with(begin)
	for {
		switch s.Kind {
		case router.DoAsk:
			s = w.ask(ctx, s)
			continue
		case router.DoFetch:
			s = p.fetch(ctx, s)
			continue
		case router.DoWait:
			waits := time.Now()
			s = p.wait(ctx, s)
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
		w.decided(s)
		return &Assignment{pool: p, step: s}, nil
	case router.DoRefuse:
		span.End(telemetry.DecisionResult{Verdict: "refuse", Reason: s.Refusal.Code.String()})
		m.Refused(s.Refusal.Code)
		return nil, &Refused{s.Refusal}
	default: // the life has ended without a step: its client left, or it expired
		span.End(telemetry.DecisionResult{Verdict: "cancelled"})
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		return nil, &Refused{router.Refusal{Code: router.NoWorker, Reason: "the request's life expired while it waited"}}
	}
}

// fetch reads shared facts within the step's deadline. Without an answer the
// request goes on without them.
func (p *Pool) fetch(ctx context.Context, s router.Step) router.Step {
	limit, cancel := context.WithTimeout(ctx, p.cfg.Core.FetchDeadline)
	defer cancel()
	facts, err := p.cfg.Store.Facts(limit, p.name, s.Facts)
	if ctx.Err() != nil {
		return p.abandon(s)
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
	return p.with(func(c *router.Core, now router.Time) router.Step { return c.Fetched(now, s.Ticket, facts) })
}

// wait keeps the request in the queue until it is woken, its time is up or its
// client leaves.
func (p *Pool) wait(ctx context.Context, s router.Step) router.Step {
	p.mu.Lock()
	ch := p.waiters[s.Ticket.ID]
	p.mu.Unlock()
	start := time.Now()
	timer := time.NewTimer(s.Deadline.Sub(p.now()))
	defer timer.Stop()
	var next router.Step
	select {
	case next = <-ch:
	case <-timer.C:
		next = p.with(func(c *router.Core, now router.Time) router.Step { return c.Timeout(now, s.Ticket) })
		if next.Kind == router.DoNothing { // woken at the same moment
			next = p.woken(ch)
		}
	case <-ctx.Done():
		next = p.leave(s, ch)
	}
	if next.Kind != router.DoWait {
		p.mu.Lock()
		delete(p.waiters, s.Ticket.ID)
		p.mu.Unlock()
		p.depth.Waited(time.Since(start))
	}
	return next
}

// woken takes the step that woke the request, if there is one.
func (p *Pool) woken(ch chan router.Step) router.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	return newest(router.Step{}, ch)
}

// newest returns the step that woke a request, or else the one it waits with.
// The lock is held: what wakes a request does it under the lock.
func newest(s router.Step, ch chan router.Step) router.Step {
	select {
	case s = <-ch:
	default:
	}
	return s
}

// abandon ends the life of a request whose client has left.
func (p *Pool) abandon(s router.Step) router.Step { return p.leave(s, nil) }

// leave is abandon for a request in the queue, which may be woken at any moment.
func (p *Pool) leave(s router.Step, ch chan router.Step) router.Step {
	return p.with(func(c *router.Core, now router.Time) router.Step {
		s := newest(s, ch)
		if s.Kind == router.DoDispatch {
			p.left(s.Worker.ID)
		}
		c.Finish(now, s.Ticket, router.Ending{Outcome: router.Cancelled})
		return router.Step{}
	})
}
