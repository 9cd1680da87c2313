package router

import "math"

// remap relates a plan's worker indexes to the fleet's slots.
func (k *link) remap(workers []*worker) {
	if k.plan == nil {
		return
	}
	k.slotOf = make([]int32, len(k.plan.plan.Workers))
	k.indexOf = make([]int32, len(workers))
	for i := range k.indexOf {
		k.indexOf[i] = -1
	}
	at := make(map[WorkerRef]int32, len(workers))
	for i, w := range workers {
		at[w.ref()] = int32(i)
	}
	for i, ref := range k.plan.plan.Workers {
		k.slotOf[i] = -1
		if slot, ok := at[ref]; ok {
			k.slotOf[i], k.indexOf[slot] = slot, int32(i)
		}
	}
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
		load := guardLoad(guard.Of, c.workers[slot])
		if load < bestLoad || load == bestLoad && slot < best {
			best, bestLoad = slot, load
		}
	}
	if best < 0 && guarded {
		l.fallback = "guard"
	}
	return best
}

func guardLoad(of Feature, w *worker) float64 {
	if of == QueuedTokens {
		return float64(w.tokens())
	}
	return float64(w.load())
}

// above reports whether the guard skips the worker.
func (c *Core) above(g *Guard, w *worker) bool {
	if g.Factor == 0 || c.totals.up == 0 {
		return false
	}
	total := c.totals.inFlight
	if g.Of == QueuedTokens {
		total = c.totals.queued
	}
	return guardLoad(g.Of, w)+1 > max(g.Slack, g.Factor*float64(total+1)/float64(c.totals.up))
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
		return c.byRendezvous(k, l)
	default:
		return c.byCost(k, l, rest)
	}
}

// gather collects the eligible slots that a rest may pick, in order of ID.
func (c *Core) gather(k *link, l *life, rest *Rest) {
	c.candidates = c.candidates[:0]
	if len(rest.Among) == 0 {
		for i, w := range c.workers {
			if c.eligible(w, l) {
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

// byRendezvous walks down the key's rendezvous order past workers above the
// guard; if all are above it, the first of the order serves.
func (c *Core) byRendezvous(k *link, l *life) int {
	key := l.req.Key
	if key == 0 {
		key = l.seed // no affinity: any order, which spreads
	}
	first, under := -1, -1
	var firstWeight, underWeight uint64
	for _, slot := range c.candidates {
		w := c.workers[slot]
		weight := Rendezvous(key, w.idHash)
		if first < 0 || weight > firstWeight {
			first, firstWeight = int(slot), weight
		}
		if (under < 0 || weight > underWeight) && !c.above(&k.plan.plan.Guard, w) {
			under, underWeight = int(slot), weight
		}
	}
	if under >= 0 {
		return under
	}
	return first
}

// byCost picks the least cost among workers whose limit is kept, else the
// least limit.
func (c *Core) byCost(k *link, l *life, rest *Rest) int {
	kv := c.meanKVUsed(rest)
	best, bestCost, bestKept := -1, math.Inf(1), false
	var bestTie uint64
	for _, slot := range c.candidates {
		w := c.workers[slot]
		kept := true
		value := 0.0
		if len(rest.Limit) > 0 {
			value = c.evaluate(rest.Limit, k.plan.limitMean, k, w, l, kv)
			kept = value <= rest.Bound
		}
		if kept {
			value = c.evaluate(rest.Cost, k.plan.costMean, k, w, l, kv)
		}
		tie := uint64(slot)
		if !rest.FirstTie {
			tie = Mix(l.seed ^ w.idHash)
		}
		better := value < bestCost || value == bestCost && tie < bestTie
		if best < 0 || kept && !bestKept || kept == bestKept && better {
			best, bestCost, bestKept, bestTie = int(slot), value, kept, tie
		}
	}
	return best
}
