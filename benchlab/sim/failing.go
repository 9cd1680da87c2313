package sim

import (
	"time"

	"gatewayd/benchlab/sim/measure"
)

// scheduleFaults enters the schedule.
func (l *lab) scheduleFaults() {
	l.active = make([]bool, len(l.faults))
	for i, f := range l.faults {
		at := l.lead.Add(f.At)
		l.agenda.add(event{at: at, kind: faultBegins, who: int32(i)})
		if f.For > 0 {
			l.agenda.add(event{at: at.Add(f.For), kind: faultEnds, who: int32(i)})
		}
		if f.Kind == ColdStart {
			for who := range f.targets(len(l.machines)) {
				l.machines[who].absent = true
				l.machines[who].known = public{}
			}
		}
	}
}

// targets yields the numbers that a fault meets, of n.
func (f Fault) targets(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if f.Target != All {
			yield(f.Target)
			return
		}
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// fault begins, or is over.
func (l *lab) fault(number int32, begins bool) {
	f := l.faults[number]
	l.active[number] = begins
	l.happened = append(l.happened, measure.Fault{At: l.sinceStart(), Text: f.String(), Over: !begins})
	if f.Kind.ofGateway() {
		for n := range f.targets(len(l.gateways)) {
			l.gatewayFault(&l.gateways[n], f.Kind, begins)
		}
		return
	}
	var crashed []int32 // together: what one loses does not go to the next
	for who := range f.targets(len(l.machines)) {
		wasUp := l.machines[who].up()
		l.machineFault(int32(who), f.Kind, begins)
		if wasUp && !l.machines[who].up() {
			crashed = append(crashed, int32(who))
		}
	}
	for _, who := range crashed {
		l.crash(who)
	}
	if f.Kind == Drain {
		l.refleet()
	}
}

func (l *lab) machineFault(who int32, kind FaultKind, begins bool) {
	m := &l.machines[who]
	n := 1
	if !begins {
		n = -1
	}
	switch kind {
	case Crash:
		wasUp := m.up()
		if m.downs += n; m.up() && !wasUp {
			m.incarnation++
		}
		l.tell(who)
	case ColdStart:
		m.absent = false
		l.tell(who)
	case Drain:
		m.drains += n
		if m.known.incarnation > 0 {
			m.known.draining = m.drains > 0
		}
	case Slow:
		m.engine.Slow(time.Duration(l.now), l.slowness(int(who)))
		l.reschedule(who)
	case Flush:
		m.engine.Flush(time.Duration(l.now))
	case StaleMetrics:
		m.blind += n
	}
}

// slowness is the product of the factors that a machine suffers now.
func (l *lab) slowness(who int) float64 {
	factor := 1.0
	for i, f := range l.faults {
		if f.Kind == Slow && l.active[i] && (f.Target == who || f.Target == All) {
			factor *= f.Factor
		}
	}
	return factor
}

// crash takes everything from a machine.
func (l *lab) crash(who int32) {
	m := &l.machines[who]
	m.past = sum(m.past, m.engine.Stats(time.Duration(l.now)))
	lost := m.engine.Reset()
	m.turn++ // the end of its steps will not come
	m.end = -1
	m.lossy = m.lossy || len(lost) > 0
	l.carry(who, -m.load)
	if m.prefills > 0 {
		m.prefilling(l.now, -m.prefills, -m.pending)
	}
	for _, id := range lost {
		l.lost(int32(id))
	}
}

// tell has gateways notice, after a while, what became of a machine.
func (l *lab) tell(who int32) {
	l.agenda.add(event{at: l.now.Add(l.config.Options.DetectDelay), kind: noticed, who: who})
}

func (l *lab) noticed(who int32) {
	if m := &l.machines[who]; m.known != m.truth() {
		m.known = m.truth()
		l.refleet()
	}
}

func (l *lab) gatewayFault(g *gateway, kind FaultKind, begins bool) {
	switch {
	case kind == GatewayCut && begins:
		g.cuts++
	case kind == GatewayCut:
		g.cuts--
	case begins:
		if g.downs++; g.downs == 1 {
			l.gatewayCrash(g)
		}
	default:
		if g.downs--; g.downs == 0 {
			l.gatewayReturns(g)
		}
	}
}

// gatewayCrash loses what a gateway was about. Its workers see their connections
// break and give up.
func (l *lab) gatewayCrash(g *gateway) {
	for i, n := range l.up {
		if n == g.number {
			l.up = append(l.up[:i], l.up[i+1:]...)
			break
		}
	}
	l.series.change(l.now, len(l.machines), -g.queued)
	g.queued = 0
	clear(g.waiting)
	for slot := range l.jobs.slots {
		j := &l.jobs.slots[slot]
		if j.serial == 0 || j.gateway != g.number {
			continue
		}
		if j.state == running {
			l.cancel(int32(slot))
		}
		l.end(int32(slot), measure.GatewayLost)
	}
}

// cancel takes a job from its worker.
func (l *lab) cancel(slot int32) {
	j := &l.jobs.slots[slot]
	who := int32(l.requests[j.row].Worker)
	m := &l.machines[who]
	if !m.engine.Cancel(time.Duration(l.now), uint64(slot)) {
		l.broken("worker %s does not have request %d", l.config.Workers[who].ID, j.row)
		return
	}
	m.lossy = true
	l.carry(who, -1)
	if !j.first {
		m.prefilling(l.now, -1, -int(j.pending))
	}
	l.reschedule(who)
}

// gatewayReturns starts a gateway anew, with new instances of its strategies.
func (l *lab) gatewayReturns(g *gateway) {
	chain, err := l.chainFor(int(g.number))
	if err == nil {
		err = l.open(g, chain)
	}
	if err != nil && l.err == nil {
		l.err = err
	}
}
