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
	end    time.Duration // for which turn was entered in the agenda
	turn   uint64
	idle   bool // listed in lab.idle

	prefills int           // requests here whose first token is not there yet
	since    router.Time   // when that became more than none
	prefill  time.Duration // in which there was one
}

// prefilling notes that n more requests wait for their first token.
func (m *machine) prefilling(now router.Time, n int) {
	switch m.prefills += n; {
	case n > 0 && m.prefills == n:
		m.since = now
	case n < 0 && m.prefills == 0:
		m.prefill += now.Sub(m.since)
	}
}

func (l *lab) addMachines() error {
	l.machines = make([]machine, len(l.config.Workers))
	for i, w := range l.config.Workers {
		e, err := engine.New(w.Profile)
		if err != nil {
			return fmt.Errorf("worker %s: %w", w.ID, err)
		}
		l.machines[i].engine = e
	}
	return nil
}

// submit gives a worker one more request.
func (l *lab) submit(who int32, r engine.Request) error {
	m := &l.machines[who]
	if err := m.engine.Submit(time.Duration(l.now), r); err != nil {
		return err
	}
	m.prefilling(l.now, 1)
	if end, busy := m.engine.End(); busy {
		l.schedule(who, end)
	} else {
		l.rest(who)
	}
	return nil
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
		switch j := int32(v.ID); v.Kind {
		case engine.FirstToken:
			l.firstToken(j)
			m.prefilling(l.now, -1)
		case engine.Finished:
			if v.Tokens == 0 {
				m.prefilling(l.now, -1)
			}
			l.finished(j, v)
		}
	}
	l.rest(e.who)
	l.wake()
}

// scrape reads the workers' own figures, as a gateway does over HTTP.
func (l *lab) scrape() {
	gauge := func(v float64) router.Gauge { return router.Gauge{Value: v, At: l.now} }
	for i := range l.machines {
		s := l.machines[i].engine.Stats(time.Duration(l.now))
		l.gateway.core.SetLoad(l.config.Workers[i].ID, gauge(float64(s.Running)), gauge(float64(s.Waiting)), gauge(s.KVUsed))
	}
}

func (m *machine) measured(w Worker, now router.Time) measure.Worker {
	out := measure.Worker{ID: w.ID, Zone: w.Zone, Stats: m.engine.Stats(time.Duration(now)), Prefill: m.prefill}
	if w.Energy.PUE > 0 {
		out.PUE = engine.Known(w.Energy.PUE)
	}
	if w.Carbon.GramsPerKWh.Known() {
		out.GramsPerKWh = engine.Known(w.Carbon.GramsPerKWh.Value)
	}
	return out
}
