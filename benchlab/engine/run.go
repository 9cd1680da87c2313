package engine

import "time"

// maxRun bounds the steps planned at once.
const maxRun = 1024

// extend plans further steps after the one just planned: as long as all
// sequences decode, nobody can be admitted, nobody ends and blocks suffice, a
// step differs from the one before only in its context.
func (e *Engine) extend(until time.Duration) {
	queued := e.waiting.len() > 0 && len(e.running) < e.profile.MaxSeqs
	if e.ends[0] >= until || queued || e.load.Decoding != len(e.running) {
		return
	}
	steps := maxRun
	for _, s := range e.running {
		steps = min(steps, s.OutputTokens-s.generated)
	}
	e.groupByPhase()
	size := e.profile.BlockTokens
	load, spare := e.load, e.pool.waiting
	for i := 1; i < steps && e.ends[i-1] < until; i++ {
		phase := beginning(i, size)
		if spare -= e.phases[phase+1] - e.phases[phase]; spare < 0 {
			return
		}
		load.Context += int64(load.Decoding)
		e.ends = append(e.ends, e.ends[i-1]+e.duration(load))
	}
}

// beginning is the phase of the sequences that begin a block in step i of a
// run, counted from 0.
func beginning(i, size int) int { return (size - i%size) % size }

// groupByPhase sorts the running sequences by how many tokens their last block
// holds before the step in progress, stably: those of phase r are
// order[phases[r]:phases[r+1]].
func (e *Engine) groupByPhase() {
	size := e.profile.BlockTokens
	clear(e.phases)
	for _, s := range e.running {
		e.phases[s.computed%size]++
	}
	sum := 0
	for r, n := range e.phases {
		e.phases[r], sum = sum, sum+n
	}
	e.order = append(e.order[:0], e.running...)
	for _, s := range e.running {
		r := s.computed % size
		e.order[e.phases[r]] = s
		e.phases[r]++
	}
	copy(e.phases[1:], e.phases[:size])
	e.phases[0] = 0
}

// cut ends the running steps with the one in progress at now.
func (e *Engine) cut(now time.Duration) {
	e.advance(now)
	if e.busy {
		e.ends = e.ends[:1]
	}
}

// advance carries out the planned steps that ended before now, but never the
// last one, which Finish does.
func (e *Engine) advance(now time.Duration) {
	if !e.busy || len(e.ends) == 1 || e.ends[0] >= now {
		return
	}
	steps := 1
	for steps < len(e.ends)-1 && e.ends[steps] < now {
		steps++
	}
	e.carryOut(steps)
}

// carryOut finishes the first steps of a run and gives the one after them its
// blocks. Only block boundaries cost work, in the order of single steps.
func (e *Engine) carryOut(steps int) {
	size := e.profile.BlockTokens
	e.groupByPhase()
	for i := 1; i <= steps; i++ {
		e.account(e.ends[i-1])
		for _, s := range e.inPhase(beginning(i, size)) {
			s.blocks = append(s.blocks, e.pool.take())
		}
		for _, s := range e.inPhase(beginning(i+1, size)) {
			full := (s.computed + i + 1) / size
			e.publish(s, full-1, full)
		}
		e.load.Context += int64(e.load.Decoding)
	}
	for _, s := range e.running {
		s.computed += steps
		s.generated += steps
	}
	e.count.generatedTokens += int64(steps * len(e.running))
	e.ends = append(e.ends[:0], e.ends[steps:]...)
}

func (e *Engine) inPhase(r int) []*sequence { return e.order[e.phases[r]:e.phases[r+1]] }
