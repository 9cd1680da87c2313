package sim

import (
	"errors"
	"fmt"
	"time"

	"gatewayd/benchlab/sim/measure"
)

// ErrLaw means that a simulation broke one of its own laws: its result would be
// wrong, and there is an error in a strategy's host, the core or the engine.
var ErrLaw = errors.New("simulation broke a law")

// broken notes the first broken law, which ends the run.
func (l *lab) broken(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%w at %v: %s", ErrLaw, l.sinceStart(), fmt.Sprintf(format, args...))
	}
}

// lawsNow checks, every second, what must hold all the time: each open request is
// one life in its gateway's core, and each that runs is at its worker.
func (l *lab) lawsNow() {
	lives := 0
	for _, n := range l.up {
		lives += l.gateways[n].core.Lives()
	}
	atWork, carried := 0, 0
	for i := range l.jobs.slots {
		if l.jobs.slots[i].state == running {
			atWork++
		}
	}
	for i := range l.machines {
		carried += l.machines[i].load
	}
	if lives != l.jobs.count() || atWork != carried {
		l.broken("%d requests are open and %d lives in cores, %d run and %d are at workers", l.jobs.count(), lives, atWork, carried)
	}
}

// totals are what requests add up to at one worker.
type totals struct{ prompt, cached, output int64 }

func (t totals) upTo(o totals) bool {
	return t.prompt <= o.prompt && t.cached <= o.cached && t.output <= o.output
}

// laws checks what must hold when every request has ended.
func (l *lab) laws() error {
	sums := make([]totals, len(l.machines))
	for row := range l.requests {
		r := &l.requests[row]
		l.lawful(row, r)
		if r.Outcome == measure.Complete && r.Worker >= 0 {
			s := &sums[r.Worker]
			s.prompt += int64(r.Prompt)
			s.cached += int64(r.Cached)
			s.output += int64(r.Output)
		}
	}
	for i := range l.machines {
		l.machineLaws(i, sums[i])
	}
	for _, n := range l.up {
		l.coreIdle(&l.gateways[n])
	}
	if n := l.jobs.count(); n != 0 || len(l.joins) != 0 {
		l.broken("%d requests are open and %d wait for answers at the end", n, len(l.joins))
	}
	return l.err
}

// lawful checks one request.
func (l *lab) lawful(row int, r *measure.Request) {
	complete := r.Outcome == measure.Complete
	if want := l.config.Trace.Requests[row].Output; complete && int(r.Output) != want {
		l.broken("request %d got %d output tokens, want %d", row, r.Output, want)
	}
	if r.Outcome == measure.Pending || r.Ended < r.Arrived || complete && (r.First < r.Arrived || r.Ended < r.First || r.Cached >= r.Prompt || r.Worker < 0) {
		l.broken("request %d makes no sense: %+v", row, *r)
	}
	m := &r.Misses
	if complete && (min(m.Compulsory, m.Evicted, m.Elsewhere, m.Stale, r.Cached) < 0 ||
		r.Cached+m.Compulsory+m.Evicted+m.Elsewhere+m.Stale != r.Prompt) {
		l.broken("request %d has %d prompt tokens, but %d were cached and missed are %+v", row, r.Prompt, r.Cached, *m)
	}
	for _, before := range l.config.Trace.Requests[row].After {
		if b := &l.requests[before]; l.config.Options.Timing == Sessions && b.Ended+l.config.Trace.Requests[row].Think > r.Arrived {
			l.broken("request %d was sent at %v, before %d was answered at %v", row, r.Arrived, before, b.Ended)
		}
	}
}

// machineLaws checks one worker against the sums of the requests that it served.
// What it did for requests that were taken from it comes on top.
func (l *lab) machineLaws(i int, served totals) {
	m, id := &l.machines[i], l.config.Workers[i].ID
	s := m.engine.Stats(time.Duration(l.now))
	if s.Running+s.Waiting+s.UsedBlocks+m.load+m.prefills+m.pending > 0 {
		l.broken("worker %s is not idle at the end: %d requests, %+v", id, m.load, s)
	}
	s = sum(m.past, s)
	got := totals{s.QueryTokens, s.HitTokens, s.GeneratedTokens}
	if got != served && !(m.lossy && served.upTo(got)) || s.PromptTokens != served.prompt && !(m.lossy && served.prompt <= s.PromptTokens) {
		l.broken("worker %s counts %+v prompt, cached and output tokens, its requests %+v", id, got, served)
	}
}

func (l *lab) coreIdle(g *gateway) {
	core := g.core
	if core.Lives() != 0 || core.Waiting() != 0 || len(g.waiting) != 0 {
		l.broken("gateway %d still has %d requests, %d of them waiting", g.number, core.Lives(), core.Waiting())
	}
	if d := core.Dropped(); d.Events+d.Writes > 0 {
		l.broken("gateway %d dropped %d events and %d writes", g.number, d.Events, d.Writes)
	}
	for _, w := range core.Export(l.now, rateFloor)().Loads {
		if w.InFlight != 0 || w.QueuedTokens != 0 {
			l.broken("gateway %d still counts %d requests and %d queued tokens at worker %s", g.number, w.InFlight, w.QueuedTokens, w.ID)
		}
	}
}
