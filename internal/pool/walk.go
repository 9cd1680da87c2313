package pool

import (
	"context"
	"errors"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// walk is one way of a request down the chain to a worker.
type walk struct {
	pool   *Pool
	span   telemetry.DecisionSpan
	waited time.Duration // in the queue
	missed []miss
	ranked []int // links that answered with a ranking
}

// miss is a strategy that was asked in vain, and why.
type miss struct {
	link   int
	reason string
}

// ask calls a strategy's Route within the step's deadline.
func (w *walk) ask(ctx context.Context, s *router.Step) {
	p := w.pool
	start := time.Now()
	asked, cancel := context.WithTimeout(ctx, s.Deadline.Sub(s.Input.Now))
	defer cancel()
	d, err := p.chain[s.Link].Strategy.RouteContext(asked, s.Input, plugin.TraceContext(w.span.Ref()))
	if ctx.Err() != nil {
		p.abandon(s)
		return
	}
	outcome := why(err, asked)
	if err == nil {
		outcome = [...]string{"pass", "route", "wait", "refuse"}[min(d.Verdict, router.Refuse)]
		if d.Verdict == router.Route {
			w.ranked = append(w.ranked, s.Link)
		}
	} else {
		w.missed = append(w.missed, miss{s.Link, outcome})
	}
	if outcome == "late" {
		p.picks[s.Link].DeadlineExceeded()
	}
	p.picks[s.Link].Picked(time.Since(start), outcome)
	p.step(s, func(c *router.Core, now router.Time) router.Step { return c.Answer(now, s.Ticket, d, err == nil) })
}

// why is the word for an answer that did not come.
func why(err error, asked context.Context) string {
	switch {
	case errors.Is(err, plugin.ErrDown):
		return "down"
	case errors.Is(err, plugin.ErrBusy):
		return "busy"
	case asked.Err() != nil:
		return "late"
	}
	return "error"
}

// decided records who chose a worker, and who should have.
func (w *walk) decided(s *router.Step) {
	p, r := w.pool, &s.Receipt
	d := telemetry.DecisionResult{
		Verdict: "route", Strategy: r.Strategy, Reason: r.Reason, PlanVersion: r.Plan,
		Candidates: r.Candidates, Worker: s.Worker.ID, Fallback: r.Fallback,
	}
	by := p.link(r.Strategy)
	if by < len(p.chain) {
		d.Version = p.known[by].info.Load().Version
		if made := p.known[by].plan.Load(); made != nil && made.version == r.Plan {
			d.Plan = made.span
		}
	}
	p.picks[by].Decided(r.Reason)
	w.span.End(d)

	m := p.cfg.Telemetry.Metrics
	for _, miss := range w.missed {
		m.Fallback(p.chain[miss.link].Name, r.Strategy, miss.reason)
	}
	switch r.Fallback {
	case "unusable":
		for _, link := range w.ranked {
			if link != by {
				m.Fallback(p.chain[link].Name, r.Strategy, r.Fallback)
			}
		}
	case "skipped":
		for i := range by { // the first that should have been asked
			if p.known[i].info.Load().Routes {
				m.Fallback(p.chain[i].Name, r.Strategy, r.Fallback)
				break
			}
		}
	}
}

// link returns the place of a strategy in the chain; the built-in is behind it.
func (p *Pool) link(strategy string) int {
	for i := range p.chain {
		if p.chain[i].Name == strategy {
			return i
		}
	}
	return len(p.chain)
}
