package engine

import (
	"fmt"
	"time"
)

// Engine is one inference engine in virtual time. One goroutine owns it.
type Engine struct {
	profile Profile
	slow    float64 // factor on step times
	pool    *pool

	byID    map[uint64]*sequence
	waiting queue
	running []*sequence // in order of admission
	done    []*sequence // ended in the last finished step; reused from the next Start on
	spare   []*sequence

	busy  bool
	load  Load            // of the step in progress
	start time.Duration   // of the step in progress
	ends  []time.Duration // of the step in progress and of those planned after it
	steps int64           // finished steps

	events []Event
	count  counters
}

// sequence is a request inside the engine.
type sequence struct {
	Request
	holding
	per          int // blocks of the engine to an id
	promptBlocks int // that the prompt fills
	promptIDs    int // whose blocks the prompt fills

	computed   int // tokens whose KV is in the blocks held
	generated  int
	chunk      int  // tokens in the step in progress
	prefilling bool // until all known tokens are computed
	cancelled  bool
	admitted   time.Duration
	cached     int // prompt tokens found in the cache at first admission; -1 before
	preempted  int
	producedAt int64  // number of the step that last produced a token
	refusedAt  uint64 // changes of the pool when it was last refused admission
}

// known is the number of tokens of prompt and answer so far.
func (s *sequence) known() int { return s.PromptTokens + s.generated }

// names returns the names from the engine's block i on and how many there are in
// a row.
func (s *sequence) names(i int) (n names, blocks int) {
	id := i / s.per
	n.per, n.off = int32(s.per), int32(i-id*s.per)
	if i < s.promptBlocks && id < len(s.Blocks) {
		n.ids = s.Blocks[id:]
		return n, min(s.promptBlocks, len(s.Blocks)*s.per) - i
	}
	if id -= s.promptIDs; id >= 0 && id < len(s.OutputBlocks) {
		n.ids = s.OutputBlocks[id:]
		return n, int(n.len())
	}
	return n, 0
}

// New returns an idle engine with an empty cache.
func New(profile Profile) (*Engine, error) {
	if err := profile.Validate(); err != nil {
		return nil, err
	}
	profile = profile.withDefaults()
	return &Engine{
		profile: profile,
		slow:    1,
		pool:    newPool(profile.KVBlocks),
		byID:    make(map[uint64]*sequence),
	}, nil
}

// Profile returns the profile in use, defaults filled in.
func (e *Engine) Profile() Profile { return e.profile }

// Submit puts a request at the end of the queue. It takes part from the first
// step that starts at or after now; a step that ends at this very instant
// counts as running still. Submit shortens a run of many steps to the step in
// progress: ask End again. Errors: ErrContext, ErrTooLarge,
// ErrInvalid, ErrDuplicate.
func (e *Engine) Submit(now time.Duration, r Request) error {
	if r.BlockTokens == 0 {
		r.BlockTokens = e.profile.BlockTokens
	}
	if err := e.check(r); err != nil {
		return err
	}
	e.cut(now)
	var s *sequence
	if n := len(e.spare); n > 0 {
		s, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		s = new(sequence)
	}
	size := e.profile.BlockTokens
	*s = sequence{
		Request: r, holding: holding{parts: s.parts[:0]}, prefilling: true, cached: -1,
		per: r.BlockTokens / size, promptBlocks: r.PromptTokens / size, promptIDs: r.PromptTokens / r.BlockTokens,
	}
	e.byID[r.ID] = s
	e.waiting.push(s)
	return nil
}

func (e *Engine) check(r Request) error {
	size, most := e.profile.BlockTokens, e.profile.MaxContext
	capacity := e.profile.KVBlocks * size
	switch {
	case r.PromptTokens < 1 || r.OutputTokens < 0:
		return fmt.Errorf("%w %d: %d prompt and %d output tokens, want at least 1 and 0",
			ErrInvalid, r.ID, r.PromptTokens, r.OutputTokens)
	case r.BlockTokens < 1 || r.BlockTokens%size != 0 || r.BlockTokens > maxStepTokens:
		return fmt.Errorf("%w %d: blocks of %d tokens, want a multiple of %d, at most %d",
			ErrInvalid, r.ID, r.BlockTokens, size, maxStepTokens)
	case len(r.Blocks) > (r.PromptTokens-1)/r.BlockTokens+1:
		return fmt.Errorf("%w %d: %d block hashes for %d prompt tokens in blocks of %d",
			ErrInvalid, r.ID, len(r.Blocks), r.PromptTokens, r.BlockTokens)
	case most > 0 && (r.PromptTokens > most || r.OutputTokens > most-r.PromptTokens):
		return fmt.Errorf("request %d: %d prompt and %d output tokens, at most %d in all: %w",
			r.ID, r.PromptTokens, r.OutputTokens, most, ErrContext)
	// The last output token is never fed back, so its KV needs no room.
	case r.PromptTokens > capacity || r.OutputTokens-1 > capacity-r.PromptTokens:
		return fmt.Errorf("request %d: %d prompt and %d output tokens, room for %d in all: %w",
			r.ID, r.PromptTokens, r.OutputTokens, capacity+1, ErrTooLarge)
	case e.byID[r.ID] != nil:
		return fmt.Errorf("request %d: %w", r.ID, ErrDuplicate)
	}
	return nil
}
