package router

import "slices"

// slotTerm is a term with its weights in order of the fleet's slots.
type slotTerm struct {
	feature Feature
	weight  float64   // of every worker, if weights is nil
	weights []float64 // by slot
}

// bySlot brings a row into the fleet's order; indexOf is the plan's number of
// each slot's worker, -1 if it has none. Workers that the plan does not know get
// the mean weight of each term.
func bySlot(row Row, indexOf []int32) []slotTerm {
	terms := make([]slotTerm, len(row))
	for i, t := range row {
		terms[i].feature = t.Feature
		if len(t.Weights) == 1 {
			terms[i].weight = t.Weights[0]
			continue
		}
		mean := 0.0
		for _, w := range t.Weights {
			mean += w / float64(len(t.Weights))
		}
		terms[i].weights = make([]float64, len(indexOf))
		for slot, index := range indexOf {
			if terms[i].weights[slot] = mean; index >= 0 {
				terms[i].weights[slot] = t.Weights[index]
			}
		}
	}
	return terms
}

// evaluate returns a row's cost for each candidate, in their order, in the given
// scratch. It goes term by term, since the terms are few and the workers many.
func (c *Core) evaluate(row []slotTerm, l *life, costs []float64) []float64 {
	costs = slices.Grow(costs[:0], len(c.candidates))[:len(c.candidates)]
	clear(costs)
	for i := range row {
		t := &row[i]
		weight, weights := t.weight, t.weights
		of := func(slot int32) float64 {
			if weights == nil {
				return weight
			}
			return weights[slot]
		}
		switch t.feature {
		case One:
			for i, slot := range c.candidates {
				costs[i] += of(slot)
			}
		case InFlight:
			for i, slot := range c.candidates {
				costs[i] += of(slot) * c.crowd(c.workers[slot])
			}
		case QueuedTokens:
			for i, slot := range c.candidates {
				costs[i] += of(slot) * c.crowdTokens(c.workers[slot])
			}
		default:
			meanKV := c.meanKVUsed(t.feature)
			for i, slot := range c.candidates {
				costs[i] += of(slot) * c.feature(t.feature, c.workers[slot], l, meanKV)
			}
		}
	}
	return costs
}

// feature is a feature's value that needs more than the worker's load.
func (c *Core) feature(f Feature, w *worker, l *life, meanKV float64) float64 {
	switch f {
	case InputTokens:
		return float64(l.req.PromptTokens)
	case OutputTokens:
		return l.output
	case Uncached:
		return c.uncached(w, l)
	case UncachedByBatch:
		return c.uncached(w, l) * (c.crowd(w) + 1)
	case Idle:
		return idle(w)
	case IdleOutput:
		return idle(w) * l.output
	case KVUsed:
		if w.info.Load.KVUsed.Known() {
			return w.info.Load.KVUsed.Value
		}
		return meanKV
	case WorkingSet:
		return float64(w.working.tokens)
	case Missed:
		return w.missed.tokens
	}
	return 0
}

func idle(w *worker) float64 {
	if w.load() == 0 {
		return 1
	}
	return 0
}

// uncached is the part of the prompt the worker has to compute, at least one
// token; all of it when no prefix index is kept.
func (c *Core) uncached(w *worker, l *life) float64 {
	if c.index == nil {
		return float64(max(1, l.req.PromptTokens))
	}
	return float64(max(1, l.req.PromptTokens-c.cachedTokens(l)[w.slot]))
}

// cachedAt estimates the request's tokens in one worker's cache.
func (c *Core) cachedAt(w *worker, l *life) int {
	switch {
	case c.index == nil:
		return 0
	case c.cachedFor == l.number:
		return c.cached[w.slot]
	}
	return min(c.index.match(w, l.req.Blocks)*l.req.BlockTokens, l.req.PromptTokens)
}

// cachedTokens is cachedAt for every slot, computed once per request and fleet.
func (c *Core) cachedTokens(l *life) []int {
	if c.cachedFor == l.number {
		return c.cached
	}
	c.cached = c.cached[:0]
	for _, w := range c.workers {
		c.cached = append(c.cached, c.cachedAt(w, l))
	}
	c.cachedFor = l.number
	return c.cached
}

// forgetCached has the estimates made anew: the index or the fleet changed.
func (c *Core) forgetCached() { c.cachedFor = 0 }

// meanKVUsed stands in for workers whose KV use is unknown: unknown is neither
// empty nor full.
func (c *Core) meanKVUsed(f Feature) float64 {
	if f != KVUsed {
		return 0
	}
	sum, n := 0.0, 0
	for _, slot := range c.candidates {
		if g := c.workers[slot].info.Load.KVUsed; g.Known() {
			sum += g.Value
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
