package engine

import (
	"sort"
	"time"
)

// maxRun bounds the steps planned at once.
const maxRun = 1024

// extend plans further steps after the one just planned: as long as all
// sequences decode, nobody can be admitted, nobody ends and blocks suffice, a
// step differs from the one before only in its context.
func (e *Engine) extend(until time.Duration) {
	if e.ends[0] >= until || e.load.Decoding != len(e.running) || e.mayAdmit() {
		return
	}
	more := maxRun - 1
	for _, s := range e.running {
		more = min(more, s.OutputTokens-s.generated-1)
	}
	if waiting := e.pool.waiting; e.wanted(more) > waiting {
		more = sort.Search(more, func(n int) bool { return e.wanted(n+1) > waiting })
	}
	load := e.load
	fixed := e.profile.fixedMS(load)
	for i := range more {
		if e.ends[i] >= until {
			return
		}
		load.Context += int64(load.Decoding)
		e.ends = append(e.ends, e.ends[i]+e.rounded(fixed+e.profile.contextMS(load)))
	}
}

// mayAdmit tells whether the queue may move in a coming step of a run. Whoever
// was refused is so until the pool changes, which only a new name can do here.
func (e *Engine) mayAdmit() bool {
	if e.waiting.len() == 0 || len(e.running) == e.profile.MaxSeqs {
		return false
	}
	return e.waiting.front().refusedAt != e.pool.changes || e.naming()
}

// naming tells whether blocks of answers may get names.
func (e *Engine) naming() bool {
	for _, s := range e.running {
		if len(s.OutputBlocks) > 0 {
			return true
		}
	}
	return false
}

// wanted is how many blocks the running sequences lack for more steps after the
// one in progress.
func (e *Engine) wanted(more int) (blocks int) {
	for _, s := range e.running {
		blocks += e.lacking(s, more)
	}
	return blocks
}

func (e *Engine) lacking(s *sequence, more int) (blocks int) {
	size := e.profile.BlockTokens
	return (s.computed+more+size)/size - s.held
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
	e.carryOut(sort.Search(len(e.ends)-1, func(i int) bool { return e.ends[i] >= now }))
}

// carryOut finishes the first steps of a run and gives the one after them its
// blocks. If no block gets a name, it does not matter who takes which when.
func (e *Engine) carryOut(steps int) {
	e.account(e.ends[steps-1], steps)
	if e.naming() {
		for range steps {
			for _, s := range e.running {
				s.computed++
				e.grow(s, 1)
			}
		}
	} else {
		e.pool.take(e.wanted(steps))
		for _, s := range e.running {
			s.own(e.lacking(s, steps))
			s.computed += steps
		}
	}
	for _, s := range e.running {
		s.generated += steps
	}
	e.load.Context += int64(steps * e.load.Decoding)
	e.count.generatedTokens += int64(steps * len(e.running))
	e.ends = append(e.ends[:0], e.ends[steps:]...)
}
