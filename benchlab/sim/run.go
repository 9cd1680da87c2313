package sim

import (
	"context"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

const (
	// lead is how long before the trace's start the gateway starts, so that it has
	// its first plans.
	lead = router.Time(time.Second)
	// tick is the period of the gateway's housekeeping: planning, and reading the
	// workers' own figures.
	tick = time.Second
	// renewal is how often the grid's carbon intensity is read.
	renewal = time.Hour
)

// lab is one simulation under way.
type lab struct {
	config   Config
	now      router.Time
	agenda   agenda
	machines []machine
	idle     []int32 // machines to be started at the end of this instant
	gateway  gateway
	jobs     jobs
	requests []measure.Request // by row of the trace
	left     int               // requests that have not ended
	err      error             // a law was broken
}

// Run simulates the trace to the end of its last request. It fails if the config
// makes no sense, if the context ends, with its cause, or with ErrLaw.
func Run(ctx context.Context, c Config) (*measure.Run, error) {
	l, err := newLab(c)
	if err != nil {
		return nil, err
	}
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	if err := l.laws(); err != nil {
		return nil, err
	}
	return l.result(), nil
}

// run makes one thing happen after the other until every request has ended.
func (l *lab) run(ctx context.Context) error {
	l.agenda.add(event{kind: ticks})
	l.expect(0)
	for l.left > 0 && l.err == nil {
		if l.agenda.next() > l.now && len(l.idle) > 0 {
			l.startMachines()
			continue
		}
		e := l.agenda.pop()
		l.now = e.at
		if e.kind == ticks && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.handle(e)
	}
	return l.err
}

func newLab(c Config) (*lab, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n := len(c.Trace.Requests)
	l := &lab{config: c, requests: make([]measure.Request, n), left: n}
	for i := range l.requests {
		l.requests[i].Worker = -1
	}
	if err := l.addMachines(); err != nil {
		return nil, err
	}
	if err := l.jobs.init(c.Trace, l.machines); err != nil {
		return nil, err
	}
	if err := l.openGateway(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *lab) handle(e event) {
	switch e.kind {
	case stepEnds:
		l.stepEnds(e)
	case planReady:
		l.planReady(int(e.who))
	case answered:
		l.answered(e)
	case timedOut:
		l.timedOut(e)
	case ticks:
		l.tick()
	case arrives:
		l.arrive(int(e.who))
	}
}

// expect enters the arrival of a row.
func (l *lab) expect(row int) {
	if row < len(l.requests) {
		at := lead + router.Time(l.config.Trace.Requests[row].At)
		l.agenda.add(event{at: at, kind: arrives, who: int32(row)})
	}
}

// tick is the gateway's clock.
func (l *lab) tick() {
	l.agenda.add(event{at: l.now.Add(tick), kind: ticks})
	if l.now > 0 && l.now%router.Time(renewal) == 0 {
		if err := l.setFleet(); err != nil {
			l.broken("%v", err)
		}
	}
	l.scrape()
	if expired := l.gateway.core.Tick(l.now); expired > 0 {
		l.broken("the core gave up %d requests", expired)
	}
	l.deliver()
	l.plan()
	l.wake()
	if l.config.Options.Progress != nil {
		l.config.Options.Progress(len(l.requests) - l.left)
	}
}

// sinceStart is now as the trace counts.
func (l *lab) sinceStart() time.Duration { return time.Duration(l.now - lead) }

func (l *lab) result() *measure.Run {
	r := &measure.Run{Requests: l.requests, Decisions: l.gateway.decided(), Strategies: l.gateway.planned()}
	for i := range l.machines {
		r.Workers = append(r.Workers, l.machines[i].measured(l.config.Workers[i], l.now))
	}
	return r
}
