package engine

import "time"

// Cancel ends a request, which gets no event any more, and reports whether it
// was in the engine. The step in progress goes on as planned; the blocks are
// free at its end.
func (e *Engine) Cancel(now time.Duration, id uint64) bool {
	s := e.byID[id]
	if s == nil {
		return false
	}
	e.cut(now)
	delete(e.byID, id)
	if s.isRunning() {
		s.cancelled = true
		if !e.busy {
			e.sweep()
		}
		return true
	}
	e.waiting.remove(s)
	e.spare = append(e.spare, s)
	return true
}

// isRunning tells a running sequence from a waiting one: only the former has
// been given blocks.
func (s *sequence) isRunning() bool { return s.held > 0 }

// sweep releases cancelled sequences between steps.
func (e *Engine) sweep() {
	kept := e.running[:0]
	for _, s := range e.running {
		if s.cancelled {
			e.retire(s)
			continue
		}
		kept = append(kept, s)
	}
	clear(e.running[len(kept):])
	e.running = kept
}

// retire gives back the blocks of a sequence that has ended.
func (e *Engine) retire(s *sequence) {
	e.pool.release(&s.holding, s.Owner)
	e.done = append(e.done, s)
}

// Slow multiplies the duration of every later step by factor (2 is half as
// fast), to model a struggling machine. It is bounded to 0.001 ... 1000.
func (e *Engine) Slow(now time.Duration, factor float64) {
	e.cut(now)
	e.slow = min(max(factor, 1e-3), 1e3)
}

// Flush drops the prefix cache. Requests go on, but what they have computed so
// far is not reusable by others. As Submit it shortens a run of many steps.
func (e *Engine) Flush(now time.Duration) {
	e.cut(now)
	e.pool.flush()
}

// Reset is a crash and restart: cache, counters and the step in progress are
// gone. It returns the IDs of the lost requests, running ones first, each in
// order of admission or arrival; they get no event any more.
func (e *Engine) Reset() (lost []uint64) {
	for _, s := range e.running {
		if !s.cancelled {
			lost = append(lost, s.ID)
		}
	}
	for _, s := range e.waiting.all() {
		lost = append(lost, s.ID)
	}
	clear(e.byID)
	clear(e.running)
	e.running = e.running[:0]
	e.waiting.clear()
	e.done = e.done[:0]
	e.pool.reset()
	e.busy, e.load, e.ends, e.steps, e.count = false, Load{}, e.ends[:0], 0, counters{}
	return lost
}
