package sim

import (
	"context"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

const (
	// minLead is how long before the trace's start the gateways start, at least, so
	// that they have their first plans.
	minLead = router.Time(time.Second)
	maxLead = router.Time(time.Minute)
	// tick is the period of the gateways' housekeeping.
	tick = time.Second
	// renewal is how often the grid's carbon intensity is read.
	renewal = time.Hour
)

// lab is one simulation under way.
type lab struct {
	config   Config // with defaults filled in
	outline  *Outline
	lead     router.Time // when the trace starts
	now      router.Time
	agenda   agenda
	machines []machine
	idle     []int32 // machines to be started at the end of this instant
	number   map[string]int32
	gateways []gateway
	up       []int32 // gateways that take requests
	touched  []int32 // gateways whose queues and writes are to be looked at
	store    store
	jobs     jobs
	faults   []Fault
	active   []bool // of faults
	happened []measure.Fault
	series   series
	joins    map[int32]int32 // rows that follow several answers -> answers missing
	tallies  []tally         // of links, over all gateways
	tables   []table         // of links, for workers that protect
	placed   decisions
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
		l.settle()
	}
	return l.err
}

func newLab(c Config) (*lab, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Options = c.Options.withDefaults()
	n := len(c.Trace.Requests)
	l := &lab{
		config: c, outline: c.Outline, lead: minLead, requests: make([]measure.Request, n), left: n,
		number: make(map[string]int32, len(c.Workers)), joins: map[int32]int32{}, faults: Resolve(c),
	}
	if l.outline == nil {
		l.outline = NewOutline(c.Trace)
	}
	if c.Options.Timing == Sessions {
		if err := l.outline.checkTurns(); err != nil {
			return nil, err
		}
	}
	if c.Options.Gateways > 1 {
		l.lead = max(minLead, min(2*router.Time(c.Options.SyncInterval), maxLead))
	}
	for i := range l.requests {
		l.requests[i].Worker = -1
	}
	if err := l.addMachines(); err != nil {
		return nil, err
	}
	l.jobs.init(c)
	l.series.init(l.lead, c.Trace.Requests[n-1].At, len(c.Workers)+1)
	l.scheduleFaults()
	return l, l.openGateways()
}

func (l *lab) handle(e event) {
	switch e.kind {
	case stepEnds:
		l.stepEnds(e)
	case faultEnds:
		l.fault(e.who, false)
	case faultBegins:
		l.fault(e.who, true)
	case noticed:
		l.noticed(e.who)
	case planReady, scrapes, syncs, plans, wakes:
		l.gatewayEvent(e)
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

// tick is the clock of all gateways.
func (l *lab) tick() {
	l.agenda.add(event{at: l.now.Add(tick), kind: ticks})
	if l.now > 0 && l.now%router.Time(renewal) == 0 {
		l.refleet()
	}
	for _, n := range l.up {
		g := &l.gateways[n]
		if expired := g.core.Tick(l.now); expired > 0 {
			l.broken("gateway %d gave up %d requests", n, expired)
		}
		l.deliver(g)
		l.touch(g)
	}
	l.store.sweep(l.now)
	l.lawsNow()
	if l.config.Options.Progress != nil {
		l.config.Options.Progress(len(l.requests) - l.left)
	}
}

// sinceStart is now as the trace counts.
func (l *lab) sinceStart() time.Duration { return time.Duration(l.now - l.lead) }

func (l *lab) result() *measure.Run {
	r := &measure.Run{
		Requests: l.requests, Decisions: l.placed.sorted(), Strategies: l.planned(),
		Series: l.series.measured(l.now), Faults: l.happened,
	}
	for i := range l.machines {
		r.Workers = append(r.Workers, l.machines[i].measured(l.config.Workers[i], l.now))
	}
	return r
}
