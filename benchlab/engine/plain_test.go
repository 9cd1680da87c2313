package engine

import (
	"slices"
	"time"
)

// plainEngine is the engine written for the reader: one step after the other, one
// node a block, no shortcut. It knows neither cancelling nor slow phases.
type plainEngine struct {
	profile          Profile
	pool             *plainPool
	running, waiting []*plainSequence
	load             Load
	end              time.Duration // of the step in progress, if load is not empty
	stats            Stats
}

type plainSequence struct {
	Request
	blocks          []*plainBlock
	computed, known int // tokens
	chunk           int
	decodes         bool
	cached          int // -1 before admission
	preempted       int
	admitted        time.Duration
}

func newPlainEngine(p Profile) *plainEngine {
	p = p.withDefaults()
	return &plainEngine{profile: p, pool: newPlainPool(p.KVBlocks)}
}

func (e *plainEngine) submit(_ time.Duration, r Request) {
	if r.BlockTokens == 0 {
		r.BlockTokens = e.profile.BlockTokens
	}
	e.waiting = append(e.waiting, &plainSequence{Request: r, known: r.PromptTokens, cached: -1})
}

func (e *plainEngine) flush(time.Duration) { e.pool.flush() }
func (e *plainEngine) protect(_ time.Duration, protected func(uint64) bool) {
	e.pool.protect(protected)
}

// begin plans a step, unless one is in progress, and returns when it ends.
func (e *plainEngine) begin(now time.Duration) (end time.Duration, busy bool) {
	if e.load.Seqs() == 0 {
		e.plan(now)
		e.end = now
		if e.load.Seqs() > 0 {
			e.end += max(1, e.profile.Step(e.load))
		}
	}
	return e.end, e.load.Seqs() > 0
}

// finish ends the step in progress.
func (e *plainEngine) finish() (events []Event) {
	e.load = Load{}
	e.stats.Steps++
	running := e.running
	e.running = nil
	for _, s := range running {
		happened := e.produce(s)
		events = append(events, happened...)
		if n := len(happened); n > 0 && happened[n-1].Kind == Finished {
			e.pool.release(s.blocks, s.Owner)
			continue
		}
		e.running = append(e.running, s)
	}
	return events
}

// produce books the step for one sequence.
func (e *plainEngine) produce(s *plainSequence) (events []Event) {
	s.computed += s.chunk
	if s.chunk == 0 || s.computed < s.known {
		return nil
	}
	s.chunk = 0
	if s.known == s.PromptTokens {
		e.stats.PromptTokens += int64(s.PromptTokens)
	}
	s.decodes = true
	if s.OutputTokens > 0 {
		s.known++
		e.stats.GeneratedTokens++
	}
	v := Event{ID: s.ID, Tokens: s.known - s.PromptTokens, Cached: s.cached, Admitted: s.admitted, Preemptions: s.preempted}
	if v.Tokens == 1 {
		v.Kind = FirstToken
		events = append(events, v)
	}
	if v.Tokens == s.OutputTokens {
		v.Kind = Finished
		events = append(events, v)
	}
	return events
}

func (e *plainEngine) plan(now time.Duration) {
	budget, preempted := e.profile.MaxBatchedTokens, false
	for _, s := range e.running {
		s.chunk = 0
	}
	for i := 0; i < len(e.running) && budget > 0; i++ {
		s := e.running[i]
		n := min(s.known-s.computed, budget)
		for i < len(e.running) && !e.grow(s, n) {
			e.preempt()
			preempted = true
		}
		if i == len(e.running) {
			return
		}
		e.schedule(s, n)
		budget -= n
	}
	for !preempted && budget > 0 && len(e.waiting) > 0 && len(e.running) < e.profile.MaxSeqs {
		s := e.waiting[0]
		shared, idle := e.lookUp(s)
		computed := len(shared) * e.profile.BlockTokens
		n := min(s.known-computed, budget)
		all := computed + n
		if e.profile.ReservePrompt {
			all = s.known
		}
		if e.blocksFor(all)-len(shared) > e.pool.waiting.Len()-idle {
			return
		}
		for _, b := range shared {
			e.pool.hold(b)
		}
		s.blocks, s.computed = shared, computed
		e.grow(s, n)
		e.waiting = e.waiting[1:]
		e.running = append(e.running, s)
		if s.cached < 0 {
			s.admitted, s.cached = now, computed
			e.stats.QueryTokens += int64(s.PromptTokens)
			e.stats.HitTokens += int64(computed)
		}
		e.schedule(s, n)
		budget -= n
	}
}

func (e *plainEngine) preempt() {
	last := len(e.running) - 1
	s := e.running[last]
	e.running = e.running[:last]
	e.pool.release(s.blocks, s.Owner)
	s.blocks, s.computed, s.decodes = nil, 0, false
	s.preempted++
	e.stats.Preemptions++
	e.waiting = slices.Insert(e.waiting, 0, s)
}

// lookUp finds the blocks that s can share, and how many of them wait. One token
// at least is left to compute.
func (e *plainEngine) lookUp(s *plainSequence) (shared []*plainBlock, idle int) {
	for (len(shared)+1)*e.profile.BlockTokens < s.known {
		n, ok := e.name(s, len(shared))
		b := e.pool.names[n]
		if !ok || b == nil {
			break
		}
		if b.refs == 0 {
			idle++
		}
		shared = append(shared, b)
	}
	return shared, idle
}

// grow gives s blocks for n more tokens and names those that get full.
func (e *plainEngine) grow(s *plainSequence, n int) bool {
	need := e.blocksFor(s.computed+n) - len(s.blocks)
	if need > e.pool.waiting.Len() {
		return false
	}
	for range need {
		s.blocks = append(s.blocks, e.pool.take())
	}
	for i := s.computed / e.profile.BlockTokens; i < (s.computed+n)/e.profile.BlockTokens; i++ {
		if name, ok := e.name(s, i); ok {
			e.pool.name(s.blocks[i], name)
		}
	}
	return true
}

func (e *plainEngine) blocksFor(tokens int) int {
	return (tokens + e.profile.BlockTokens - 1) / e.profile.BlockTokens
}

// name is that of block i of a sequence.
func (e *plainEngine) name(s *plainSequence, i int) (n name, ok bool) {
	per := s.BlockTokens / e.profile.BlockTokens
	n.per, n.off = int32(per), int32(i%per)
	inPrompt := (i+1)*e.profile.BlockTokens <= s.PromptTokens
	output := i/per - s.PromptTokens/s.BlockTokens
	switch {
	case inPrompt && i/per < len(s.Blocks):
		n.id = s.Blocks[i/per]
	case output >= 0 && output < len(s.OutputBlocks):
		n.id = s.OutputBlocks[output]
	default:
		return n, false
	}
	return n, true
}

func (e *plainEngine) schedule(s *plainSequence, n int) {
	s.chunk = n
	if s.decodes {
		e.load.Decoding++
		e.load.Context += int64(s.known)
		return
	}
	e.load.Prefilling++
	e.load.PrefillTokens += n
	e.load.Quad2 += int64(n) * int64(2*s.computed+n)
}

// look returns what Stats says of counts.
func (e *plainEngine) look(time.Duration) Stats {
	s := e.stats
	s.Running, s.Waiting = len(e.running), len(e.waiting)
	for at := e.pool.waiting.Front(); at != nil; at = at.Next() {
		if at.Value.(*plainBlock).named {
			s.CachedBlocks++
		} else {
			s.FreeBlocks++
		}
	}
	s.UsedBlocks = e.profile.KVBlocks - s.CachedBlocks - s.FreeBlocks
	s.KVUsed = float64(s.UsedBlocks) / float64(e.profile.KVBlocks)
	return s
}
