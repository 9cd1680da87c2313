package sim

import (
	"errors"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// perform does what the core asks for a job, until it has to wait for something.
func (l *lab) perform(slot int32, step router.Step) {
	for l.err == nil {
		j := &l.jobs.slots[slot]
		g := &l.gateways[j.gateway]
		j.ticket, j.state = step.Ticket, idle
		switch step.Kind {
		case router.DoDispatch:
			if l.dispatch(g, slot, &step) {
				return
			}
			// Nobody listens there, although the gateway does not know yet.
			l.touch(g)
			step = g.core.Retry(l.now, j.ticket)
		case router.DoAsk:
			d := g.ask(&step)
			if delay := l.config.Options.DecisionDelay; delay > 0 {
				j.answer = d
				l.later(slot, asking, l.now.Add(delay), step.Deadline)
				return
			}
			step = l.answer(g, j, d, true)
		case router.DoFetch:
			j.facts = step.Facts
			if delay := l.config.Options.StoreDelay; delay > 0 && len(l.gateways) > 1 || g.cuts > 0 {
				at := l.now.Add(delay)
				if g.cuts > 0 {
					at = step.Deadline
				}
				l.later(slot, fetching, at, step.Deadline)
				return
			}
			step = g.core.Fetched(l.now, j.ticket, l.store.read(l.now, j.facts))
		case router.DoWait:
			j.state, j.until = waiting, step.Deadline
			g.waiting[step.Ticket.ID] = slot
			l.touch(g)
			l.agenda.add(event{at: step.Deadline, kind: timedOut, who: slot, turn: j.serial})
			return
		case router.DoRefuse:
			l.end(slot, refused(step.Refusal.Code))
			return
		default:
			l.broken("the core answered a new ticket of request %d with step kind %d", j.row, step.Kind)
		}
	}
}

// dispatch sends a job to the worker that the core chose, and reports false if
// nobody listens there.
func (l *lab) dispatch(g *gateway, slot int32, step *router.Step) bool {
	j := &l.jobs.slots[slot]
	who, ok := l.number[step.Worker.ID]
	if !ok {
		l.broken("the core sent request %d to worker %q, which is not in the fleet", j.row, step.Worker.ID)
		return true
	}
	m, r := &l.machines[who], &l.requests[j.row]
	if m.known.down || m.known.draining || m.known.incarnation != step.Worker.Incarnation {
		l.broken("request %d went to worker %s, which gateways know to be away", j.row, step.Worker.ID)
		return true
	}
	r.Worker, r.Attempts, r.Gateway = int16(who), max(r.Attempts, r.Attempts+1), uint8(g.number)
	l.placed.count(&step.Receipt)
	if len(l.gateways) > 1 {
		l.touch(g) // for its writes
	}
	l.seek(step.Receipt.Cached, slot, who)
	if !m.up() {
		return false
	}
	err := l.submit(who, slot)
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrContext):
		l.unfit(g, slot, measure.TooLong)
	case errors.Is(err, engine.ErrTooLarge):
		l.unfit(g, slot, measure.TooLarge)
	default:
		l.broken("worker %s did not take request %d: %v", step.Worker.ID, j.row, err)
	}
	return true
}

// unfit ends a request that no worker can serve: another attempt would not help.
func (l *lab) unfit(g *gateway, slot int32, outcome measure.Outcome) {
	j := &l.jobs.slots[slot]
	g.core.Finish(l.now, j.ticket, router.Ending{Outcome: router.Failed})
	l.requests[j.row].Worker = -1
	l.touch(g)
	l.end(slot, outcome)
}

// ask has a strategy decide, after it has seen what happened before.
func (g *gateway) ask(step *router.Step) router.Decision {
	g.observe(step.Link)
	return g.chain[step.Link].router.Route(step.Input)
}

// answer hands a strategy's decision on. When it makes the request wait, the core
// is asked again at the time that the strategy named.
func (l *lab) answer(g *gateway, j *job, d router.Decision, inTime bool) router.Step {
	step := g.core.Answer(l.now, j.ticket, d, inTime)
	if step.Kind == router.DoWait && d.Verdict == router.Wait {
		wait := d.RetryAfter
		if wait <= 0 {
			wait = defaultWait
		}
		l.agenda.add(event{at: l.now.Add(wait), kind: wakes, who: g.number, turn: g.life})
	}
	return step
}

// later continues a job when an answer comes, or is too late.
func (l *lab) later(slot int32, s jobState, at, deadline router.Time) {
	j := &l.jobs.slots[slot]
	j.state, j.inTime = s, at < deadline
	l.agenda.add(event{at: min(at, deadline), kind: answered, who: slot, turn: j.serial})
}

// answered goes on with what a strategy, or the store, has answered.
func (l *lab) answered(e event) {
	j := &l.jobs.slots[e.who]
	if j.serial != e.turn {
		return // its gateway has crashed
	}
	g := &l.gateways[j.gateway]
	switch {
	case j.state == asking:
		d := j.answer
		j.answer = router.Decision{}
		l.perform(e.who, l.answer(g, j, d, j.inTime))
	case j.inTime:
		l.perform(e.who, g.core.Fetched(l.now, j.ticket, l.store.read(l.now, j.facts)))
	default:
		l.perform(e.who, g.core.Fetched(l.now, j.ticket, nil))
	}
	l.touch(g)
}

// timedOut ends a wait in a gateway's queue, unless it is over.
func (l *lab) timedOut(e event) {
	j := &l.jobs.slots[e.who]
	if j.serial != e.turn || j.state != waiting || j.until != l.now {
		return
	}
	g := &l.gateways[j.gateway]
	delete(g.waiting, j.ticket.ID)
	l.perform(e.who, g.core.Timeout(l.now, j.ticket))
	l.touch(g)
}

// wake lets a gateway's waiting requests go on.
func (l *lab) wake(g *gateway) {
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
