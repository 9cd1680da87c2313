package router

import "time"

const (
	missesToSkip = 3           // missed deadlines in a row after which a strategy is skipped
	probeEvery   = time.Second // how often a skipped strategy is asked once
	defaultPark  = 50 * time.Millisecond
)

// choice is a worker for a request, and who chose it why.
type choice struct {
	link, slot, rank int
	reason           string
}

// advance walks down the chain from where the life stands, until something has
// to be done outside or a worker is found.
func (c *Core) advance(now Time, l *life) Step {
	if l.candidates = c.eligibleCount(l); l.candidates == 0 {
		return c.noCandidate(now, l)
	}
	for ; l.link < len(c.links); l.link++ {
		k := &c.links[l.link]
		if slot := c.byTable(k, l); slot >= 0 {
			return c.placeAhead(now, l, choice{l.link, slot, 0, "table"})
		}
		if c.mayFetch(l) && c.needsHold(now, k, l) {
			return c.fetch(now, l)
		}
		if slot := c.byHold(now, k, l); slot >= 0 {
			return c.placeAhead(now, l, choice{l.link, slot, 0, "hold"})
		}
		if slot := c.byRest(k, l); slot >= 0 {
			return c.placeAhead(now, l, choice{l.link, slot, 0, "rest"})
		}
		if k.info.Routes && !k.skipped(now) {
			if c.mayFetch(l) && k.reads(l) {
				return c.fetch(now, l)
			}
			return c.ask(now, k, l)
		}
		if k.info.Routes {
			l.fallback = "skipped"
		}
	}
	// The built-in picks whenever a worker is eligible, so this is not reached
	// with candidates; it keeps a broken plan from losing a request.
	return c.noCandidate(now, l)
}

// skipped reports whether the strategy is not asked now: its process is away,
// or it missed deadlines and its next probe is not due.
func (k *link) skipped(now Time) bool {
	return k.down || k.misses >= missesToSkip && now < k.probeAt
}

func (c *Core) ask(now Time, k *link, l *life) Step {
	if k.misses >= missesToSkip { // this is the probe
		k.probeAt = now.Add(probeEvery)
	}
	return Step{Kind: DoAsk, Ticket: l.turn(asking), Deadline: now.Add(c.cfg.AskDeadline), Link: l.link, Input: c.input(now, k, l)}
}

func (c *Core) mayFetch(l *life) bool { return c.cfg.FetchDeadline > 0 && !l.fetched }

func (c *Core) fetch(now Time, l *life) Step {
	l.fetched = true
	return Step{Kind: DoFetch, Ticket: l.turn(fetching), Deadline: now.Add(c.cfg.FetchDeadline), Facts: c.factKeys(now, l)}
}

// decide acts on a strategy's answer. An answer that names no usable worker
// counts as passing, and a hold that is not valid as none.
func (c *Core) decide(now Time, l *life, d Decision) Step {
	switch d.Verdict {
	case Refuse:
		if d.Reason == "" {
			d.Reason = "a strategy refused the request"
		}
		return c.refuse(l, Refusal{Code: ByStrategy, Reason: d.Reason, RetryAfter: max(0, d.RetryAfter)})
	case Wait:
		if l.eager = d.RetryAfter <= 0; l.eager {
			d.RetryAfter = defaultPark
		}
		l.notUntil = now.Add(d.RetryAfter)
		return c.park(now, l)
	case Route:
		c.rank(l, d.Ranking)
		if l.hold = d.Hold; d.Hold.Guard.validate() != nil {
			l.hold = Hold{}
		}
		reason := d.Reason
		if reason == "" {
			reason = "route"
		}
		if s, ok := c.placeNext(now, l, l.link, reason); ok {
			return s
		}
		l.hold, l.fallback = Hold{}, "unusable"
	default:
		l.fallback = "passed"
		if d.Reason != "" {
			l.fallback = d.Reason
		}
	}
	l.link++
	return c.advance(now, l)
}

// rank keeps what is usable of a strategy's ranking of the workers it was shown.
func (c *Core) rank(l *life, ranking []Placement) {
	l.ranking = l.ranking[:0]
	for _, p := range ranking {
		if len(l.ranking) == len(l.shown) {
			return
		}
		if p.Role == Serve && p.Rank >= 0 && p.Worker >= 0 && p.Worker < len(l.shown) {
			l.ranking = append(l.ranking, ranked{l.shown[p.Worker], p.Rank})
		}
	}
}

// placeNext sends the request to the first worker of its ranking that may have
// it, and keeps the rest of the ranking for retries.
func (c *Core) placeNext(now Time, l *life, link int, reason string) (Step, bool) {
	for i, r := range l.ranking {
		if c.eligible(r.worker, l) {
			l.ranking = l.ranking[i+1:]
			return c.place(now, l, choice{link, r.worker.slot, r.rank, reason}), true
		}
	}
	l.ranking = l.ranking[:0]
	return Step{}, false
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
		return c.refuse(l, Refusal{Code: NoAttempt, Reason: "no further worker to try"})
	case l.req.Adapter != "":
		return c.refuse(l, Refusal{Code: NoWorker, Reason: "no worker that is up has the adapter"})
	default:
		return c.refuse(l, Refusal{Code: NoWorker, Reason: "no worker of the pool is up"})
	}
}

// place sends the request to a worker and binds its key.
func (c *Core) place(now Time, l *life, x choice) Step {
	l.by = x.link
	l.attempt++
	l.waitsFrom = Never
	c.credit(now, l, c.workers[x.slot])
	return Step{Kind: DoDispatch, Ticket: l.turn(running), Worker: l.worker.ref(), Rank: x.rank, Receipt: Receipt{
		Strategy: c.links[x.link].name, Reason: x.reason, Attempt: l.attempt, Candidates: l.candidates, Fallback: l.fallback,
	}}
}

// placeAhead is place for what a strategy decided ahead: its plan is on the
// receipt.
func (c *Core) placeAhead(now Time, l *life, x choice) Step {
	s := c.place(now, l, x)
	if k := &c.links[x.link]; k.plan != nil && k.name != BuiltIn {
		s.Receipt.Plan, s.Receipt.PlanAge = k.version, now.since(k.planned)
	}
	return s
}

// input builds what a strategy sees of the request.
func (c *Core) input(now Time, k *link, l *life) Input {
	in := Input{Now: now, Seed: l.seed, Request: l.req, Fleet: c.fleet}
	if !k.info.Blocks {
		in.Request.Blocks = nil
	}
	l.shown = l.shown[:0]
	in.Workers = make([]Worker, 0, l.candidates)
	peersAge := c.peersAge(now)
	for _, w := range c.workers {
		if !c.eligible(w, l) {
			continue
		}
		l.shown = append(l.shown, w)
		in.Workers = append(in.Workers, w.shown(peersAge))
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
