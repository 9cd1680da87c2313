package engine

import (
	"iter"
	"time"
)

// Finish ends the running steps and returns what they brought, in order of
// admission. It does nothing before their end. The slice is valid until the
// next call of Finish.
func (e *Engine) Finish(now time.Duration) []Event {
	end, busy := e.End()
	if !busy || now < end {
		return nil
	}
	if n := len(e.ends); n > 1 {
		e.carryOut(n - 1)
	}
	e.account(end, 1)
	e.busy = false
	e.events = e.events[:0]
	kept := e.running[:0]
	for _, s := range e.running {
		if s.cancelled || e.ended(s) {
			e.retire(s)
			continue
		}
		kept = append(kept, s)
	}
	clear(e.running[len(kept):])
	e.running = kept
	return e.events
}

// ended books the step's tokens of one sequence and reports whether they were
// its last.
func (e *Engine) ended(s *sequence) bool {
	s.computed += s.chunk
	scheduled := s.chunk > 0
	s.chunk = 0
	if !scheduled || s.computed < s.known() {
		return false
	}
	if s.prefilling && s.generated == 0 {
		e.count.promptTokens += int64(s.PromptTokens)
	}
	s.prefilling = false
	if s.OutputTokens > 0 {
		s.generated++
		s.producedAt = e.steps
		e.count.generatedTokens++
		if s.generated == 1 {
			e.emit(s, FirstToken)
		}
	}
	if s.generated < s.OutputTokens {
		return false
	}
	e.emit(s, Finished)
	delete(e.byID, s.ID)
	return true
}

func (e *Engine) emit(s *sequence, kind EventKind) {
	e.events = append(e.events, Event{
		ID: s.ID, Kind: kind, Tokens: s.generated,
		Cached: s.cached, Admitted: s.admitted, Preemptions: s.preempted,
	})
}

// account books the step in progress, and those after it that have the same load
// but for its context; the last one ends at end.
func (e *Engine) account(end time.Duration, steps int) {
	took := end - e.start
	e.count.busy += took
	e.count.energy.add(e.profile.Power, e.load.Seqs(), took)
	if e.load.Prefilling > 0 {
		bare := Load{Decoding: e.load.Decoding, Context: e.load.Context}
		without := time.Duration(0)
		if bare.Decoding > 0 {
			without = e.duration(bare)
		}
		e.count.prefill += took - without
	}
	e.start = end
	e.steps += int64(steps)
}

// Producing yields the ID and the number of output tokens so far of every
// request that got a token in the last finished step: what a streaming server
// sends on. It is valid between Finish and the next call of Start.
func (e *Engine) Producing() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		for _, seqs := range [2][]*sequence{e.running, e.done} {
			for _, s := range seqs {
				if s.producedAt == e.steps && !s.cancelled && !yield(s.ID, s.generated) {
					return
				}
			}
		}
	}
}
