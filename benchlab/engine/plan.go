package engine

import "time"

// Forever is a horizon that no run reaches.
const Forever = time.Duration(1<<63 - 1)

// Start begins a step at now, if none is running and there is work, and
// returns when it ends. While all sequences decode and nobody can be admitted,
// it covers further steps too, until the first that ends at or after until, at
// most up to the next completion; the results are those of single steps.
// until <= now gives one step. If a step is running already, Start only
// returns its end.
func (e *Engine) Start(now, until time.Duration) (end time.Duration, busy bool) {
	if e.busy {
		return e.End()
	}
	for _, s := range e.done {
		s.Request = Request{} // lets go of the caller's slices
		e.spare = append(e.spare, s)
	}
	e.done = e.done[:0]
	e.plan(now)
	if e.load.Seqs() == 0 {
		return now, false
	}
	e.busy, e.start = true, now
	e.ends = append(e.ends[:0], now+e.duration(e.load))
	e.extend(until)
	return e.End()
}

// End returns when the running steps end, and whether any are running.
func (e *Engine) End() (end time.Duration, busy bool) {
	if !e.busy {
		return 0, false
	}
	return e.ends[len(e.ends)-1], true
}

func (e *Engine) duration(l Load) time.Duration {
	return e.rounded(e.profile.stepMS(l))
}

// rounded is the duration of a step of so many milliseconds.
func (e *Engine) rounded(ms float64) time.Duration {
	d := nanoseconds(ms)
	if e.slow != 1 {
		d = time.Duration(float64(d) * e.slow)
	}
	return max(d, 1)
}

// plan chooses the tokens of one step, as vLLM V1 does: first every running
// sequence in order of admission, one token for a decode and as much as the
// budget allows for a prefill; then the queue in order of arrival. When blocks
// run out, the sequence admitted last gives up its own.
func (e *Engine) plan(now time.Duration) {
	e.load = Load{}
	budget := e.profile.MaxBatchedTokens
	preempted := false
	for i := 0; i < len(e.running) && budget > 0; i++ {
		s := e.running[i]
		n := min(s.known()-s.computed, budget)
		for !e.grow(s, n) {
			preempted = true
			if e.preemptLast() == s {
				return // s was the last: all others have their share
			}
		}
		e.schedule(s, n)
		budget -= n
	}
	for !preempted && budget > 0 && e.waiting.len() > 0 && len(e.running) < e.profile.MaxSeqs {
		s := e.waiting.front()
		if !e.admit(s, budget) {
			return
		}
		e.waiting.pop()
		e.running = append(e.running, s)
		if s.cached < 0 {
			s.admitted, s.cached = now, s.computed
			e.count.queryTokens += int64(s.PromptTokens)
			e.count.hitTokens += int64(s.cached)
		}
		n := min(s.known()-s.computed, budget)
		e.schedule(s, n)
		budget -= n
	}
}

func (e *Engine) schedule(s *sequence, n int) {
	s.chunk = n
	if !s.prefilling {
		e.load.Decoding++
		e.load.Context += int64(s.known())
		return
	}
	e.load.Prefilling++
	e.load.PrefillTokens += n
	e.load.Quad2 += int64(n) * int64(2*s.computed+n)
}

// grow gives s the blocks for n more tokens, or nothing if there are too few.
func (e *Engine) grow(s *sequence, n int) bool {
	size := e.profile.BlockTokens
	if room := s.held*size - s.computed; room > n {
		return true // no block is begun or filled
	}
	need := (s.computed+n+size-1)/size - s.held
	if need > e.pool.waiting {
		return false
	}
	e.pool.take(need)
	s.own(need)
	e.publish(s, s.computed/size, (s.computed+n)/size)
	return true
}

// publish names the full blocks from..to-1 of s. As in vLLM they are reusable
// from the step on that computes them.
func (e *Engine) publish(s *sequence, from, to int) {
	for from < to {
		n, blocks := s.names(from)
		if blocks == 0 {
			answer := s.promptIDs * s.per
			if from >= answer {
				return
			}
			from = answer
			continue
		}
		blocks = min(blocks, to-from)
		e.pool.publish(&s.holding, from, n, int32(blocks))
		from += blocks
	}
}

// admit gives a waiting sequence the blocks it shares and those of its first
// chunk, or nothing if there are too few, for its whole prompt if that is to be
// reserved. At least one token is left to compute.
// Once refused, it need not be tried again before the pool has changed: until
// then the running sequences want fewer tokens with each step, so that the
// budget left for the chunk never shrinks.
func (e *Engine) admit(s *sequence, budget int) bool {
	if s.refusedAt == e.pool.changes {
		return false
	}
	size := e.profile.BlockTokens
	shared, idle := e.share(s, (s.known()-1)/size)
	n := min(s.known()-shared*size, budget)
	all := shared*size + n
	if e.profile.ReservePrompt {
		all = s.known()
	}
	if need := (all+size-1)/size - shared; need > e.pool.waiting-idle {
		s.parts = s.parts[:0]
		s.refusedAt = e.pool.changes
		return false
	}
	for _, x := range s.parts {
		e.pool.hold(x)
	}
	s.held = shared
	s.computed = shared * size
	return e.grow(s, n)
}

// share looks up the first blocks of s, at most limit. They become its parts
// without being held yet. It returns how many there are and how many wait.
func (e *Engine) share(s *sequence, limit int) (shared, idle int) {
	for shared < limit {
		n, blocks := s.names(shared)
		if blocks == 0 {
			break
		}
		r, at := e.pool.find(n)
		if r == nobody {
			break
		}
		if at > 0 {
			r = e.pool.cut(r, at)
		}
		x := &e.pool.runs[r]
		blocks = int(n.common(x.names, min(int32(min(blocks, limit-shared)), x.blocks)))
		if x.refs == 0 {
			idle += blocks
		}
		s.parts = append(s.parts, part{r, int32(blocks)})
		shared += blocks
	}
	return shared, idle
}

// preemptLast sends the sequence admitted last back to the front of the queue.
func (e *Engine) preemptLast() *sequence {
	last := len(e.running) - 1
	s := e.running[last]
	e.running[last] = nil
	e.running = e.running[:last]
	e.pool.release(&s.holding, s.Owner)
	s.computed, s.prefilling = 0, true
	s.preempted++
	e.count.preemptions++
	e.waiting.pushFront(s)
	return s
}
