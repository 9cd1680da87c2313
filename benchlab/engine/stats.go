package engine

import "time"

// Stats is the state of an engine and its totals since New or Reset. Totals
// grow when a step ends.
type Stats struct {
	Running int // sequences admitted, those cancelled during the step in progress included
	Waiting int

	KVUsed       float64 // share of blocks that running sequences use, 0 ... 1
	UsedBlocks   int
	CachedBlocks int // unused, but with reusable content
	FreeBlocks   int // unused and empty

	QueryTokens     int64 // prompt tokens looked up in the prefix cache, once per request
	HitTokens       int64 // of these, found
	PromptTokens    int64 // prompt tokens of finished prefills, cached ones included
	GeneratedTokens int64
	Preemptions     int64
	Steps           int64

	Busy    time.Duration // sum of step durations
	Prefill time.Duration // the part of Busy that the steps would have saved without their prefill chunks
	Joules  Figure        // energy of the steps, without the time between them; unknown without a power profile
}

type counters struct {
	queryTokens, hitTokens, promptTokens, generatedTokens, preemptions int64

	busy, prefill time.Duration
	energy        energy
}

// Stats returns the state at now, which must not be before the last call; a
// step that ends at this very instant counts as running still.
func (e *Engine) Stats(now time.Duration) Stats {
	e.advance(now)
	c := &e.count
	stats := Stats{
		Running: len(e.running), Waiting: e.waiting.len(),
		KVUsed:     float64(e.pool.used()) / float64(e.pool.size),
		UsedBlocks: e.pool.used(), CachedBlocks: e.pool.cached, FreeBlocks: e.pool.waiting - e.pool.cached,
		QueryTokens: c.queryTokens, HitTokens: c.hitTokens,
		PromptTokens: c.promptTokens, GeneratedTokens: c.generatedTokens,
		Preemptions: c.preemptions, Steps: e.steps,
		Busy: c.busy, Prefill: c.prefill,
	}
	if _, known := e.profile.Power.Watts(1).Value(); known {
		stats.Joules = Known(c.energy.joules())
	}
	return stats
}

// Cached returns how many leading tokens of a prompt with these block ids the
// cache holds at now; blockTokens is as in Request.BlockTokens. It changes
// nothing.
func (e *Engine) Cached(now time.Duration, blocks []uint64, blockTokens int) (tokens int) {
	e.advance(now)
	size := e.profile.BlockTokens
	if blockTokens == 0 {
		blockTokens = size
	}
	if blockTokens < size || blockTokens > maxStepTokens {
		return 0
	}
	for n := (names{ids: blocks, per: int32(blockTokens / size)}); len(n.ids) > 0; {
		r, at := e.pool.find(n)
		if r == nobody {
			break
		}
		x := &e.pool.runs[r]
		found := n.common(x.skip(at), min(n.len(), x.blocks-at))
		tokens += int(found) * size
		n = n.skip(found)
	}
	return tokens
}
