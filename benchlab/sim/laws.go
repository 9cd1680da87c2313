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

// totals are what requests add up to at one worker.
type totals struct{ prompt, cached, output int64 }

// laws checks what must hold when every request has ended.
func (l *lab) laws() error {
	sums := make([]totals, len(l.machines))
	for row := range l.requests {
		r := &l.requests[row]
		complete := r.Outcome == measure.Complete
		if want := l.config.Trace.Requests[row].Output; complete && int(r.Output) != want {
			l.broken("request %d got %d output tokens, want %d", row, r.Output, want)
		}
		if r.Outcome == measure.Pending || complete && (r.First < r.Arrived || r.Ended < r.First || r.Cached >= r.Prompt) {
			l.broken("request %d makes no sense: %+v", row, *r)
		}
		if complete {
			s := &sums[r.Worker]
			s.prompt += int64(r.Prompt)
			s.cached += int64(r.Cached)
			s.output += int64(r.Output)
		}
	}
	for i := range l.machines {
		s := l.machines[i].engine.Stats(time.Duration(l.now))
		id := l.config.Workers[i].ID
		if s.Running+s.Waiting+s.UsedBlocks > 0 {
			l.broken("worker %s is not idle at the end: %+v", id, s)
		}
		if got := (totals{s.QueryTokens, s.HitTokens, s.GeneratedTokens}); got != sums[i] || s.PromptTokens != sums[i].prompt {
			l.broken("worker %s counts %+v prompt, cached and output tokens, its requests %+v", id, got, sums[i])
		}
	}
	l.coreIdle()
	return l.err
}

func (l *lab) coreIdle() {
	core := l.gateway.core
	if core.Lives() != 0 || core.Waiting() != 0 || len(l.gateway.waiting) != 0 {
		l.broken("the core still has %d requests, %d of them waiting", core.Lives(), core.Waiting())
	}
	if d := core.Dropped(); d.Events+d.Writes > 0 {
		l.broken("the core dropped %d events and %d writes", d.Events, d.Writes)
	}
	for _, w := range core.Loads(l.now) {
		if w.Load.InFlight != 0 || w.Load.QueuedTokens != 0 {
			l.broken("the core still counts %d requests and %d queued tokens at worker %s", w.Load.InFlight, w.Load.QueuedTokens, w.ID)
		}
	}
}
