package sim

import (
	"cmp"
	"errors"
	"slices"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// gateway drives the core as a gateway does.
type gateway struct {
	core    *router.Core
	chain   []strategy
	number  map[string]int32 // of machines, by worker ID
	waiting map[uint64]int32 // slots of jobs in the core's queue, by ticket ID
	counts  map[reason]int
	events  []router.Event
}

// reason is why a request was placed.
type reason struct{ strategy, reason, fallback string }

func (l *lab) openGateway() error {
	g := gateway{number: map[string]int32{}, waiting: map[uint64]int32{}, counts: map[reason]int{}}
	// A simulated request never gets lost, however long it takes.
	config := router.Config{Pool: "sim", Seed: stream(l.config.Seed, "core"), MaxLife: 1<<63 - 1}
	for _, k := range l.config.Chain {
		config.Links = append(config.Links, router.Link{Name: k.Name, Info: k.Instance.Info()})
		g.chain = append(g.chain, newStrategy(k))
	}
	var err error
	if g.core, err = router.New(config); err != nil {
		return err
	}
	for i, w := range l.config.Workers {
		g.number[w.ID] = int32(i)
	}
	l.gateway = g
	return l.setFleet()
}

// setFleet tells the core of the workers, with the grid's intensity as of now.
func (l *lab) setFleet() error {
	members := make([]router.Member, len(l.config.Workers))
	for i, w := range l.config.Workers {
		members[i] = router.Member{Worker: w.Worker}
		if g := &members[i].Carbon.GramsPerKWh; g.Known() {
			g.At = l.now
		}
	}
	return l.gateway.core.SetFleet(l.now, members)
}

// perform does what the core asks for a job, until it has to wait for something.
func (l *lab) perform(slot int32, step router.Step) {
	for l.err == nil {
		j := &l.jobs.slots[slot]
		j.ticket = step.Ticket
		switch step.Kind {
		case router.DoDispatch:
			l.dispatch(slot, &step)
			return
		case router.DoAsk:
			d := l.ask(&step)
			if delay := l.config.Options.DecisionDelay; delay > 0 {
				l.answerLater(slot, d, l.now.Add(delay), step.Deadline)
				return
			}
			step = l.gateway.core.Answer(l.now, step.Ticket, d, true)
		case router.DoWait:
			l.gateway.waiting[step.Ticket.ID] = slot
			l.agenda.add(event{at: step.Deadline, kind: timedOut, who: slot, turn: step.Ticket.ID})
			return
		case router.DoRefuse:
			l.end(slot, refused(step.Refusal.Code))
			return
		default:
			l.broken("the core answered a new ticket of request %d with step kind %d", j.row, step.Kind)
		}
	}
}

// dispatch sends a job to the worker that the core chose.
func (l *lab) dispatch(slot int32, step *router.Step) {
	g, j := &l.gateway, &l.jobs.slots[slot]
	who, ok := g.number[step.Worker.ID]
	if !ok {
		l.broken("the core sent request %d to worker %q, which is not in the fleet", j.row, step.Worker.ID)
		return
	}
	g.counts[reason{step.Receipt.Strategy, step.Receipt.Reason, step.Receipt.Fallback}]++
	l.requests[j.row].Worker = int16(who)
	err := l.submit(who, l.jobs.work(slot))
	switch {
	case err == nil:
		return
	case errors.Is(err, engine.ErrTooLarge):
		g.core.Finish(l.now, j.ticket, router.Ending{Outcome: router.Failed})
		l.requests[j.row].Worker = -1
		l.end(slot, measure.TooLarge)
		l.wake()
	default:
		l.broken("worker %s did not take request %d: %v", step.Worker.ID, j.row, err)
	}
}

// ask has a strategy decide, after it has seen what happened before.
func (l *lab) ask(step *router.Step) router.Decision {
	k := &l.gateway.chain[step.Link]
	l.observe(step.Link)
	return k.router.Route(step.Input)
}

func (l *lab) answerLater(slot int32, d router.Decision, at, deadline router.Time) {
	j := &l.jobs.slots[slot]
	j.answer, j.inTime = d, at < deadline
	l.agenda.add(event{at: min(at, deadline), kind: answered, who: slot})
}

func (l *lab) answered(e event) {
	j := &l.jobs.slots[e.who]
	l.perform(e.who, l.gateway.core.Answer(l.now, j.ticket, j.answer, j.inTime))
}

// timedOut ends a wait in the gateway's queue, unless it is over.
func (l *lab) timedOut(e event) {
	if slot, ok := l.gateway.waiting[e.turn]; ok && slot == e.who {
		delete(l.gateway.waiting, e.turn)
		l.perform(slot, l.gateway.core.Timeout(l.now, l.jobs.slots[slot].ticket))
	}
}

// wake lets waiting requests go on, as far as workers are free.
func (l *lab) wake() {
	g := &l.gateway
	for l.err == nil && g.core.Waiting() > 0 {
		step, ok := g.core.Wake(l.now)
		if !ok {
			return
		}
		slot, ok := g.waiting[step.Ticket.ID]
		if !ok {
			l.broken("the core woke a request that does not wait")
			return
		}
		delete(g.waiting, step.Ticket.ID)
		l.perform(slot, step)
	}
}

// deliver gives every strategy the events that it observes.
func (l *lab) deliver() {
	for i := range l.gateway.chain {
		l.observe(i)
	}
}

func (l *lab) observe(i int) {
	g := &l.gateway
	if g.chain[i].observer == nil {
		return
	}
	if g.events = g.core.TakeEvents(i, g.events[:0]); len(g.events) > 0 {
		g.chain[i].observer.Observe(slices.Clone(g.events))
	}
}

func refused(code router.RefusalCode) measure.Outcome {
	switch code {
	case router.QueueFull:
		return measure.QueueFull
	case router.WaitedLong:
		return measure.QueueTimeout
	case router.ByStrategy:
		return measure.RefusedByStrategy
	case router.NoAttempt:
		return measure.AttemptsExhausted
	default:
		return measure.NoWorker
	}
}

// decided lists the counts in a fixed order.
func (g *gateway) decided() []measure.Decision {
	out := make([]measure.Decision, 0, len(g.counts))
	for r, n := range g.counts {
		out = append(out, measure.Decision{Strategy: r.strategy, Reason: r.reason, Fallback: r.fallback, Count: n})
	}
	slices.SortFunc(out, func(a, b measure.Decision) int {
		return cmp.Or(cmp.Compare(a.Strategy, b.Strategy), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Fallback, b.Fallback))
	})
	return out
}
