package sim

import (
	"fmt"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// machine is one worker at work.
type machine struct {
	engine *engine.Engine
	block  int           // tokens in a block of its cache
	end    time.Duration // for which turn was entered in the agenda
	turn   uint64
	idle   bool // listed in lab.idle
	load   int  // requests here, running or waiting
	// pending are the prompt tokens to be computed for requests here before their
	// first token, as far as they were not cached when they were routed.
	pending int

	prefills int           // requests here whose first token is not there yet
	since    router.Time   // when that became more than none
	prefill  time.Duration // in which there was one

	absent      bool   // it has not joined yet
	downs       int    // crashes that are not over
	drains      int    // drains that are not over
	blind       int    // faults that keep its figures from being read
	incarnation uint64 // of its life
	known       public
	past        engine.Stats // of earlier lives
	lossy       bool         // requests were taken from it before their end
}

// public is what gateways know of a machine.
type public struct {
	incarnation    uint64 // 0: they do not know it
	down, draining bool
}

func (m *machine) up() bool { return !m.absent && m.downs == 0 }

// truth is what gateways would know if they knew everything.
func (m *machine) truth() public {
	if m.absent {
		return public{}
	}
	return public{m.incarnation, m.downs > 0, m.drains > 0}
}

// prefilling notes that n more requests wait for their first token, and as many
// more prompt tokens for being computed.
func (m *machine) prefilling(now router.Time, n, tokens int) {
	m.pending += tokens
	switch m.prefills += n; {
	case n > 0 && m.prefills == n:
		m.since = now
	case n < 0 && m.prefills == 0:
		m.prefill += now.Sub(m.since)
	}
}

func (l *lab) addMachines() error {
	l.machines = make([]machine, len(l.config.Workers))
	size := l.config.Trace.BlockTokens
	for i, w := range l.config.Workers {
		e, err := engine.New(w.Profile)
		if err != nil {
			return fmt.Errorf("worker %s: %w", w.ID, err)
		}
		block := e.Profile().BlockTokens
		if size > 0 && size%block != 0 {
			return fmt.Errorf("worker %s: blocks of %d tokens of trace %s cannot be cut into blocks of %d; give a divisor",
				w.ID, size, l.config.Trace.Name, block)
		}
		m := &l.machines[i]
		m.engine, m.block, m.incarnation = e, block, max(w.Incarnation, 1)
		m.known = m.truth()
		l.number[w.ID] = int32(i)
	}
	return nil
}

// submit gives a worker one more request.
func (l *lab) submit(who, slot int32) error {
	m, j := &l.machines[who], &l.jobs.slots[slot]
	if err := m.engine.Submit(time.Duration(l.now), l.jobs.work(slot)); err != nil {
		return err
	}
	j.state, j.first = running, false
	j.pending = l.requests[j.row].Prompt - j.sought.here
	m.prefilling(l.now, 1, int(j.pending))
	l.carry(who, 1)
	l.reschedule(who)
	return nil
}

// carry changes the number of a machine's requests.
func (l *lab) carry(who int32, n int) {
	l.machines[who].load += n
	l.series.change(l.now, int(who), n)
}

// reschedule enters when a machine's steps end after they were cut short.
func (l *lab) reschedule(who int32) {
	if end, busy := l.machines[who].engine.End(); busy {
		l.schedule(who, end)
	} else {
		l.rest(who)
	}
}

// rest has a machine started at the end of this instant.
func (l *lab) rest(who int32) {
	if m := &l.machines[who]; !m.idle {
		m.idle = true
		l.idle = append(l.idle, who)
	}
}

// startMachines begins steps, as many at once as bring nothing new. A request
// that comes meanwhile cuts them short.
func (l *lab) startMachines() {
	for _, who := range l.idle {
		m := &l.machines[who]
		m.idle = false
		if end, busy := m.engine.Start(time.Duration(l.now), engine.Forever); busy {
			l.schedule(who, end)
		}
	}
	l.idle = l.idle[:0]
}

// schedule enters the end of a machine's steps, unless it is entered already.
func (l *lab) schedule(who int32, end time.Duration) {
	m := &l.machines[who]
	if m.turn > 0 && m.end == end {
		return
	}
	m.end = end
	m.turn++
	l.agenda.add(event{at: router.Time(end), kind: stepEnds, who: who, turn: m.turn})
}

// stepEnds hands on what a worker's steps brought.
func (l *lab) stepEnds(e event) {
	m := &l.machines[e.who]
	if e.turn != m.turn {
		return // a new request has moved the end
	}
	for _, v := range m.engine.Finish(time.Duration(l.now)) {
		slot := int32(v.ID)
		if v.Kind == engine.FirstToken || v.Tokens == 0 {
			m.prefilling(l.now, -1, -int(l.jobs.slots[slot].pending))
		}
		if v.Kind == engine.FirstToken {
			l.firstToken(slot)
			continue
		}
		l.carry(e.who, -1)
		l.finished(slot, v)
	}
	l.rest(e.who)
}

// scrape reads the workers' own figures, as a gateway does over HTTP.
func (l *lab) scrape(g *gateway) {
	gauge := func(v float64) router.Gauge { return router.Gauge{Value: v, At: l.now} }
	for i := range l.machines {
		if m := &l.machines[i]; m.up() && m.blind == 0 {
			s := m.engine.Stats(time.Duration(l.now))
			id := l.config.Workers[i].ID
			g.core.SetLoad(id, gauge(float64(s.Running)), gauge(float64(s.Waiting)), gauge(s.KVUsed))
			if l.config.Options.Signal.Counted() {
				g.core.SetCacheUse(l.now, id, float64(s.QueryTokens), float64(s.HitTokens))
			}
		}
	}
}

func (m *machine) measured(w Worker, now router.Time) measure.Worker {
	out := measure.Worker{ID: w.ID, Zone: w.Zone, Stats: sum(m.past, m.engine.Stats(time.Duration(now))), Prefill: m.prefill}
	if w.Energy.PUE > 0 {
		out.PUE = engine.Known(w.Energy.PUE)
	}
	if w.Carbon.GramsPerKWh.Known() {
		out.GramsPerKWh = engine.Known(w.Carbon.GramsPerKWh.Value)
	}
	return out
}

// sum adds the totals of earlier lives to the state of the present one.
func sum(past, now engine.Stats) engine.Stats {
	now.QueryTokens += past.QueryTokens
	now.HitTokens += past.HitTokens
	now.PromptTokens += past.PromptTokens
	now.GeneratedTokens += past.GeneratedTokens
	now.Preemptions += past.Preemptions
	now.Steps += past.Steps
	now.Busy += past.Busy
	now.Prefill += past.Prefill
	if joules, known := now.Joules.Value(); known {
		now.Joules = engine.Known(joules + past.Joules.Or(0))
	}
	return now
}
