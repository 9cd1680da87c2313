package router

import "math"

// evaluate returns the row's cost for a worker, the greatest if it is not a
// number. Workers that the plan does not know yet get the mean weight of each
// term.
func (c *Core) evaluate(row Row, means []float64, k *link, w *worker, l *life, meanKV float64) float64 {
	cost := 0.0
	index := int32(-1)
	if k.indexOf != nil {
		index = k.indexOf[w.slot]
	}
	for i := range row {
		t := &row[i]
		weight := means[i]
		if len(t.Weights) == 1 {
			weight = t.Weights[0]
		} else if index >= 0 {
			weight = t.Weights[index]
		}
		if weight != 0 {
			cost += weight * c.feature(t.Feature, w, l, meanKV)
		}
	}
	if math.IsNaN(cost) {
		return math.Inf(1)
	}
	return cost
}

func (c *Core) feature(f Feature, w *worker, l *life, meanKV float64) float64 {
	switch f {
	case One:
		return 1
	case InFlight:
		return float64(w.load())
	case QueuedTokens:
		return float64(w.tokens())
	case InputTokens:
		return float64(l.req.PromptTokens)
	case OutputTokens:
		return l.output
	case Uncached:
		return c.uncached(w, l)
	case UncachedByBatch:
		return c.uncached(w, l) * float64(w.load()+1)
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
	if c.index == nil {
		return 0
	}
	return min(c.index.match(w, l.req.Blocks)*l.req.BlockTokens, l.req.PromptTokens)
}

// cachedTokens is cachedAt for every slot, computed once per request and fleet.
func (c *Core) cachedTokens(l *life) []int {
	if c.cachedFor == l.number {
		return c.cached
	}
	c.cachedFor = l.number
	c.cached = c.cached[:0]
	for _, w := range c.workers {
		c.cached = append(c.cached, c.cachedAt(w, l))
	}
	return c.cached
}

// forgetCached has the estimates made anew: the index or the fleet changed.
func (c *Core) forgetCached() { c.cachedFor = 0 }

// meanKVUsed stands in for workers whose KV use is unknown: unknown is neither
// empty nor full.
func (c *Core) meanKVUsed(rest *Rest) float64 {
	if !uses(rest.Cost, KVUsed) && !uses(rest.Limit, KVUsed) {
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

func uses(row Row, f Feature) bool {
	for i := range row {
		if row[i].Feature == f {
			return true
		}
	}
	return false
}
