package router

import "slices"

// byRendezvous walks down the key's rendezvous order past workers above the
// limit and the guard; if all are above the guard, it counts for none. A key that
// was freed goes to the least cost among those with room for its prompt instead,
// if there is a cost. Where none has room, it goes to the fullest: a cache that is
// asked for more than it holds loses its keys anyway, and the others keep theirs.
func (c *Core) byRendezvous(k *link, l *life, rest *Rest) int {
	if len(k.limit) > 0 {
		c.limits = c.evaluate(k.limit, l, c.limits)
		c.keepNearMean(rest.Bound)
	}
	c.keepUnder(&k.plan.plan.Guard)
	if l.freed && len(k.cost) > 0 {
		if !c.keepRoomy(l) {
			return c.fullest()
		}
		c.costs = c.evaluate(k.cost, l, c.costs)
		return c.leastCost(l, rest)
	}
	key := l.req.Key
	if key == 0 {
		key = l.seed // no affinity: any order, which spreads
	}
	first, most := -1, uint64(0)
	for _, slot := range c.candidates {
		if weight := Rendezvous(key, c.workers[slot].idHash); first < 0 || weight > most {
			first, most = int(slot), weight
		}
	}
	return first
}

// keepNearMean takes candidates whose limit is above a multiple of the mean out
// of the running, unless that is true of all.
func (c *Core) keepNearMean(factor float64) {
	mean := 0.0
	for _, limit := range c.limits {
		mean += limit / float64(len(c.limits))
	}
	kept := 0
	for i, limit := range c.limits {
		if limit <= factor*mean {
			c.candidates[kept] = c.candidates[i]
			kept++
		}
	}
	if kept > 0 {
		c.candidates = c.candidates[:kept]
	}
}

// roomy is the multiple of a worker's cache up to which its working set, with a
// prompt, has room: not every key comes back.
const roomy = 1.2

// keepRoomy takes candidates without room for the prompt out of the running, or
// reports that none has. A cache of unknown size has room.
func (c *Core) keepRoomy(l *life) bool {
	kept := 0
	for _, slot := range c.candidates {
		w := c.workers[slot]
		if size := float64(w.info.KVTokens); size == 0 || float64(w.working.tokens+l.req.PromptTokens) <= roomy*size {
			c.candidates[kept] = slot
			kept++
		}
	}
	if kept > 0 {
		c.candidates = c.candidates[:kept]
	}
	return kept > 0
}

// fullest picks the candidate, all of known size, with the greatest working set for
// its cache, and the lowest ID of equals.
func (c *Core) fullest() int {
	best, most := -1, -1.0
	for _, slot := range c.candidates {
		w := c.workers[slot]
		if fill := float64(w.working.tokens) / float64(w.info.KVTokens); fill > most {
			best, most = int(slot), fill
		}
	}
	return best
}

// keepUnder takes candidates above the guard out of the running, unless all are.
func (c *Core) keepUnder(g *Guard) {
	above := func(slot int32) bool { return c.above(g, c.workers[slot]) }
	if g.Factor > 0 && slices.ContainsFunc(c.candidates, func(slot int32) bool { return !above(slot) }) {
		c.candidates = slices.DeleteFunc(c.candidates, above)
	}
}
