package router

import (
	"math"
	"time"
)

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
// to be done outside or a worker is found. It writes the step in place, since a
// step is large and the ways down the chain are short.
func (c *Core) advance(now Time, l *life, step *Step) {
	c.resume(now)
	if l.candidates = c.eligibleCount(l); l.candidates == 0 && !c.rouse(now, l) {
		*step = c.noCandidate(now, l)
		return
	}
	for ; l.link < len(c.links); l.link++ {
		k := &c.links[l.link]
		if slot := c.byTable(k, l); slot >= 0 {
			c.placeAhead(now, l, choice{l.link, slot, 0, "table"}, step)
			return
		}
		if c.mayFetch(l) && c.needsHold(now, k, l) {
			*step = c.fetch(now, l)
			return
		}
		if slot := c.byHold(now, k, l); slot >= 0 {
			c.placeAhead(now, l, choice{l.link, slot, 0, "hold"}, step)
			return
		}
		if slot := c.byRest(k, l); slot >= 0 {
			c.placeAhead(now, l, choice{l.link, slot, 0, "rest"}, step)
			return
		}
		if k.info.Routes && !k.skipped(now) {
			if c.mayFetch(l) && k.reads(l) {
				*step = c.fetch(now, l)
			} else {
				*step = c.ask(now, k, l)
			}
			return
		}
		if k.info.Routes {
			l.fallback = "skipped"
		}
	}
	// The built-in picks whenever a worker is eligible, so this is not reached
	// with candidates; it keeps a broken plan from losing a request.
	*step = c.noCandidate(now, l)
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
func (c *Core) decide(now Time, l *life, d Decision) (step Step) {
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
		if c.placeNext(now, l, l.link, reason, &step) {
			return step
		}
		l.hold, l.fallback = Hold{}, "unusable"
	default:
		l.fallback = "passed"
		if d.Reason != "" {
			l.fallback = d.Reason
		}
	}
	l.link++
	c.advance(now, l, &step)
	return step
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
func (c *Core) placeNext(now Time, l *life, link int, reason string, step *Step) bool {
	for i, r := range l.ranking {
		if c.eligible(r.worker, l) {
			l.ranking = l.ranking[i+1:]
			c.place(now, l, choice{link, r.worker.slot, r.rank, reason}, step)
			return true
		}
	}
	l.ranking = l.ranking[:0]
	return false
}

// noCandidate waits if a worker is only busy, and refuses if none is up or those that
// are want to be left alone.
func (c *Core) noCandidate(now Time, l *life) Step {
	busy, comeBack := false, time.Duration(math.MaxInt64)
	for _, w := range c.workers {
		switch {
		case !c.serves(w, l) || l.hasTried(w):
		case w.pause.on && w.pause.asked:
			comeBack = min(comeBack, w.pause.until.Sub(now))
		case !w.pause.on:
			busy = true
		}
	}
	switch {
	case busy:
		return c.park(now, l)
	case comeBack < math.MaxInt64:
		return c.refuse(l, Refusal{Code: Paused, Reason: "the workers that could serve the request have asked for a pause", RetryAfter: comeBack})
	case l.attempt > 0:
		return c.refuse(l, Refusal{Code: NoAttempt, Reason: "no further worker to try"})
	case l.req.Adapter != "":
		return c.refuse(l, Refusal{Code: NoWorker, Reason: "no worker that is up has the adapter"})
	default:
		return c.refuse(l, Refusal{Code: NoWorker, Reason: "no worker of the pool is up"})
	}
}

// place sends the request to a worker and binds its key. The step must be zero.
func (c *Core) place(now Time, l *life, x choice, step *Step) {
	l.by = x.link
	l.attempt++
	l.waitsFrom = Never
	c.credit(now, l, c.workers[x.slot])
	step.Kind, step.Ticket = DoDispatch, l.turn(running)
	step.Worker, step.Rank = l.worker.ref(), x.rank
	r := &step.Receipt
	r.Strategy, r.Reason = c.links[x.link].name, x.reason
	r.Attempt, r.Candidates, r.Fallback, r.Cached = l.attempt, l.candidates, l.fallback, l.cached
}

// placeAhead is place for what a strategy decided ahead: its plan is on the
// receipt.
func (c *Core) placeAhead(now Time, l *life, x choice, step *Step) {
	c.place(now, l, x, step)
	if k := &c.links[x.link]; k.plan != nil && x.link < len(c.cfg.Links) {
		step.Receipt.Plan, step.Receipt.PlanAge = k.version, now.since(k.planned)
	}
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
		in.Workers = append(in.Workers, c.crowded(w, peersAge))
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
