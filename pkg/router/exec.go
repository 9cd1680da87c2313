package router

import (
	"math"
	"slices"
)

// remap relates a plan's worker indexes to the fleet's slots.
func (k *link) remap(workers []*worker) {
	if k.plan == nil {
		return
	}
	k.slotOf = make([]int32, len(k.plan.plan.Workers))
	indexOf := make([]int32, len(workers))
	for i := range indexOf {
		indexOf[i] = -1
	}
	at := make(map[WorkerRef]int32, len(workers))
	for i, w := range workers {
		at[w.ref()] = int32(i)
	}
	for i, ref := range k.plan.plan.Workers {
		k.slotOf[i] = -1
		if slot, ok := at[ref]; ok {
			k.slotOf[i], indexOf[slot] = slot, int32(i)
		}
	}
	k.cost = bySlot(k.plan.plan.Rest.Cost, indexOf)
	k.limit = bySlot(k.plan.plan.Rest.Limit, indexOf)
}

// byTable returns the slot of the key's least loaded eligible member under the
// guard, the lowest ID among equals; -1 if there is none.
func (c *Core) byTable(k *link, l *life) int {
	if k.plan == nil || l.req.Key == 0 {
		return -1
	}
	best, bestLoad, guarded := -1, math.Inf(1), false
	guard := &k.plan.plan.Guard
	for _, m := range k.plan.members(l.req.Key) {
		slot := int(k.slotOf[m])
		if slot < 0 || !c.eligible(c.workers[slot], l) {
			continue
		}
		if c.above(guard, c.workers[slot]) {
			guarded = true
			continue
		}
		load := c.guardLoad(guard.Of, c.workers[slot])
		if load < bestLoad || load == bestLoad && slot < best {
			best, bestLoad = slot, load
		}
	}
	if best < 0 && guarded {
		l.fallback = "guard"
	}
	return best
}

func (c *Core) guardLoad(of Feature, w *worker) float64 {
	if of == QueuedTokens {
		return c.crowdTokens(w)
	}
	return c.crowd(w)
}

// above reports whether the guard skips the worker.
func (c *Core) above(g *Guard, w *worker) bool {
	if g.Factor == 0 || c.totals.up == 0 {
		return false
	}
	t := &c.totals
	total := float64(t.inFlight) + c.untold(t.fresh.inFlight)
	if g.Of == QueuedTokens {
		total = float64(t.queued) + c.untold(t.fresh.queued)
	}
	return c.guardLoad(g.Of, w)+1 > max(g.Slack, g.Factor*(total+1)/float64(t.up))
}

// byRest picks for a key that is neither in the table nor held; -1 if the plan
// abstains or there is none to pick.
func (c *Core) byRest(k *link, l *life) int {
	if k.plan == nil || k.plan.plan.Rest.Order == Abstain {
		return -1
	}
	rest := &k.plan.plan.Rest
	c.gather(k, l, rest)
	if rest.Sample > 0 && rest.Sample < len(c.candidates) {
		c.sample(l, rest.Sample)
	}
	if len(c.candidates) == 0 {
		return -1
	}
	switch rest.Order {
	case ByRotation:
		k.rotation++
		return int(c.candidates[(k.rotation-1)%uint64(len(c.candidates))])
	case ByRendezvous:
		return c.byRendezvous(k, l, rest)
	default:
		return c.byCost(k, l, rest)
	}
}

// gather collects the eligible slots that a rest may pick, in order of ID.
func (c *Core) gather(k *link, l *life, rest *Rest) {
	c.candidates = c.candidates[:0]
	if len(rest.Among) == 0 {
		plain := l.req.Adapter == "" && len(l.tried) == 0
		for i, w := range c.workers {
			if w.open() && (plain || c.eligible(w, l)) {
				c.candidates = append(c.candidates, int32(i))
			}
		}
		return
	}
	for _, m := range rest.Among {
		if slot := k.slotOf[m]; slot >= 0 && c.eligible(c.workers[slot], l) {
			c.candidates = append(c.candidates, slot)
		}
	}
}

// sample keeps n of the candidates, drawn without repetition.
func (c *Core) sample(l *life, n int) {
	for i := range n {
		j := i + int(Mix(l.seed+uint64(i))%uint64(len(c.candidates)-i))
		c.candidates[i], c.candidates[j] = c.candidates[j], c.candidates[i]
	}
	c.candidates = c.candidates[:n]
}

// byCost picks the least cost among workers whose limit is kept, else the
// least limit. A cost that is not a number is the greatest.
func (c *Core) byCost(k *link, l *life, rest *Rest) int {
	c.costs = c.evaluate(k.cost, l, c.costs)
	if len(k.limit) > 0 {
		c.limits = c.evaluate(k.limit, l, c.limits)
		c.keepLimit(rest.Bound)
	}
	return c.leastCost(l, rest)
}

// leastCost picks the candidate of the least cost.
func (c *Core) leastCost(l *life, rest *Rest) int {
	least := math.Inf(1)
	c.ties = c.ties[:0]
	for i, slot := range c.candidates {
		cost := c.costs[i]
		if cost != cost {
			cost = math.Inf(1)
		}
		if cost < least {
			least, c.ties = cost, c.ties[:0]
		}
		if cost == least {
			c.ties = append(c.ties, slot)
		}
	}
	return c.breakTie(l, rest)
}

// keepLimit takes candidates beyond the bound out of the running; if all are, it
// is their limits that count.
func (c *Core) keepLimit(bound float64) {
	if !slices.ContainsFunc(c.limits, func(limit float64) bool { return limit <= bound }) {
		copy(c.costs, c.limits)
		return
	}
	kept := 0
	for i, limit := range c.limits {
		if limit <= bound {
			c.candidates[kept], c.costs[kept] = c.candidates[i], c.costs[i]
			kept++
		}
	}
	c.candidates = c.candidates[:kept]
}

// breakTie picks one of the workers that cost the same: the first, or any one in
// an order of the request's own.
func (c *Core) breakTie(l *life, rest *Rest) int {
	if len(c.ties) == 1 {
		return int(c.ties[0])
	}
	if rest.FirstTie {
		return int(slices.Min(c.ties))
	}
	best, lowest := -1, uint64(0)
	for _, slot := range c.ties {
		if tie := Mix(l.seed ^ c.workers[slot].idHash); best < 0 || tie < lowest {
			best, lowest = int(slot), tie
		}
	}
	return best
}
