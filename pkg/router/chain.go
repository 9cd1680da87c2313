package router

import "time"

const (
	missesToSkip = 3           // missed deadlines in a row after which a strategy is skipped
	probeEvery   = time.Second // how often a skipped strategy is asked once
	defaultPark  = 50 * time.Millisecond
)

// advance walks down the chain from where the life stands, until something has
// to be done outside or a worker is found.
func (c *Core) advance(now Time, l *life) Step {
	candidates := c.eligibleCount(l)
	if candidates == 0 {
		return c.noCandidate(now, l)
	}
	for ; l.link < len(c.links); l.link++ {
		k := &c.links[l.link]
		if c.cfg.FetchDeadline > 0 && !l.fetched && c.needsFacts(k, l) {
			l.fetched = true
			return Step{Kind: DoFetch, Ticket: l.turn(fetching), Deadline: now.Add(c.cfg.FetchDeadline), Facts: c.factKeys(l)}
		}
		if slot, reason := c.decideAhead(now, k, l); slot >= 0 {
			return c.place(now, l, slot, l.link, reason, 0)
		}
		if k.info.Routes && c.mayAsk(now, k) {
			return Step{Kind: DoAsk, Ticket: l.turn(asking), Deadline: now.Add(c.cfg.AskDeadline), Link: l.link, Input: c.input(now, k, l)}
		}
	}
	// The built-in picks whenever a worker is eligible, so this is not reached
	// with candidates; it keeps a broken plan from losing a request.
	return c.noCandidate(now, l)
}

// decideAhead tries what the strategy decided ahead: table, hold, rest.
func (c *Core) decideAhead(now Time, k *link, l *life) (slot int, reason string) {
	if k.plan != nil && l.req.Key != 0 {
		if slot := c.byTable(k, l); slot >= 0 {
			return slot, "table"
		}
	}
	if slot := c.byHold(now, k, l); slot >= 0 {
		return slot, "hold"
	}
	if k.plan != nil && k.plan.plan.Rest.Order != Abstain {
		if slot := c.byRest(k, l); slot >= 0 {
			return slot, "rest"
		}
	}
	return -1, ""
}

// mayAsk reports whether the strategy may be asked: it is up, and not skipped
// for missed deadlines except for one probe a second.
func (c *Core) mayAsk(now Time, k *link) bool {
	if k.down {
		return false
	}
	if k.misses < missesToSkip {
		return true
	}
	if now < k.probeAt {
		return false
	}
	k.probeAt = now.Add(probeEvery)
	return true
}

// decide acts on a strategy's answer. An answer that names no usable worker
// counts as passing.
func (c *Core) decide(now Time, l *life, d Decision) Step {
	for _, w := range d.Writes {
		if w.TTL > 0 && c.cfg.FetchDeadline > 0 {
			c.write(w)
		}
	}
	switch d.Verdict {
	case Refuse:
		return c.refuse(now, l, Refusal{Code: ByStrategy, Reason: d.Reason, RetryAfter: d.RetryAfter})
	case Wait:
		l.notUntil = now.Add(defaultPark)
		if d.RetryAfter > 0 {
			l.notUntil = now.Add(d.RetryAfter)
		}
		return c.park(now, l)
	case Route:
		usable := l.ranking[:0]
		for _, p := range d.Ranking {
			if p.Role == Serve && p.Rank >= 0 && p.Worker >= 0 && p.Worker < len(l.shown) {
				usable = append(usable, ranked{l.shown[p.Worker], p.Rank})
			}
		}
		for i, r := range usable {
			if slot := c.slotOf(r.worker); slot >= 0 && c.eligible(r.worker, l) {
				l.ranking, l.hold, l.holdLink = usable[i+1:], d.Hold, l.link
				reason := d.Reason
				if reason == "" {
					reason = "route"
				}
				return c.place(now, l, slot, l.link, reason, r.rank)
			}
		}
		l.fallback = "unusable"
	default:
		l.fallback = "passed"
		if d.Reason != "" {
			l.fallback = d.Reason
		}
	}
	l.link++
	return c.advance(now, l)
}

// noCandidate waits if a worker is only busy, and refuses if none is up.
func (c *Core) noCandidate(now Time, l *life) Step {
	up := false
	for _, w := range c.workers {
		up = up || c.serves(w, l) && !l.hasTried(w)
	}
	switch {
	case up:
		return c.park(now, l)
	case l.attempt > 0:
		return c.refuse(now, l, Refusal{Code: NoAttempt, Reason: "no further worker to try"})
	default:
		return c.refuse(now, l, Refusal{Code: NoWorker, Reason: "no worker of the pool is up"})
	}
}

// place sends the request to a worker and binds its key.
func (c *Core) place(now Time, l *life, slot, by int, reason string, rank int) Step {
	l.by = by
	l.attempt++
	candidates := c.eligibleCount(l)
	c.credit(now, l, slot)
	k := &c.links[by]
	r := Receipt{Strategy: k.name, Reason: reason, Attempt: l.attempt, Candidates: candidates, Fallback: l.fallback}
	if ahead := reason == "table" || reason == "hold" || reason == "rest"; ahead && k.plan != nil && by < len(c.links)-1 {
		r.Plan, r.PlanAge = k.plan.plan.Version, now.Sub(k.planned)
	}
	return Step{Kind: DoDispatch, Ticket: l.turn(running), Worker: l.worker.ref(), Rank: rank, Receipt: r}
}

// input builds what a strategy sees of the request.
func (c *Core) input(now Time, k *link, l *life) Input {
	in := Input{Now: now, Seed: l.seed, Request: l.req, Fleet: c.fleet}
	if !k.info.Blocks {
		in.Request.Blocks = nil
	}
	l.shown = l.shown[:0]
	for _, w := range c.workers {
		if !c.eligible(w, l) {
			continue
		}
		l.shown = append(l.shown, w)
		in.Workers = append(in.Workers, w.shown(now, c))
		if k.info.Cached {
			in.Cached = append(in.Cached, c.cachedTokens(l)[w.slot])
		}
	}
	for _, f := range l.facts {
		for _, family := range k.info.Facts {
			if f.Family == family {
				in.Facts = append(in.Facts, f)
			}
		}
	}
	return in
}
