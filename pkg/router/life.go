package router

import "time"

// Ticket names one step of one request's life. Every step returns a new one;
// a call with an older ticket has no effect, so late answers are harmless.
type Ticket struct {
	ID   uint64
	Turn uint32
}

// StepKind says what the driver has to do next for a request.
type StepKind uint8

const (
	DoNothing  StepKind = iota // the ticket was not the newest: ignore
	DoDispatch                 // send the request to Step.Worker
	DoAsk                      // call Route of Step.Link with Step.Input, then Answer
	DoFetch                    // read Step.Facts, then Fetched
	DoWait                     // keep it until Wake returns its ticket's ID, or call Timeout at Deadline
	DoRefuse                   // answer Step.Refusal; the life has ended
)

// Step is what the driver has to do next for one request. Deadlines are for
// the driver to keep: it calls Answer, Fetched or Timeout when they pass.
type Step struct {
	Kind     StepKind
	Ticket   Ticket
	Deadline Time

	Worker  WorkerRef // DoDispatch
	Rank    int       // DoDispatch: data-parallel rank + 1, 0 for any
	Receipt Receipt   // DoDispatch

	Link    int       // DoAsk: which strategy of the chain
	Input   Input     // DoAsk
	Facts   []FactKey // DoFetch
	Refusal Refusal   // DoRefuse
}

// Receipt says why a worker was chosen.
type Receipt struct {
	Strategy   string
	Reason     string // table, hold, rest, route or the strategy's own word
	Plan       uint64 // version of the plan that decided, 0 if none did
	PlanAge    time.Duration
	Attempt    int    // 1 for the first
	Candidates int    // workers that were eligible
	Fallback   string // why earlier strategies did not decide, "" if none was tried
}

type lifeState uint8

const (
	free lifeState = iota
	asking
	fetching
	parked
	running
)

// life is one request between Arrive and its ending.
type life struct {
	slot   int32
	ticket Ticket
	state  lifeState
	prev   *life // arrival order
	next   *life

	req     Request
	seed    uint64
	number  uint64
	arrived Time
	output  float64 // the output feature

	link     int
	fetched  bool
	facts    []Fact
	fallback string
	notUntil Time // parked by a strategy's wish

	worker     *worker
	by         int
	attempt    int
	queued     int // uncached tokens credited to the worker
	dispatched Time
	gotFirst   bool
	tried      []*worker
	ranking    []ranked
	shown      []*worker // the workers of the last Input
	hold       Hold
	holdLink   int
	heapAt     int // place in the queue, -1 if not in it
}

type ranked struct {
	worker *worker
	rank   int
}

// Arrive starts the life of a request.
func (c *Core) Arrive(now Time, r Request) Step {
	c.arrived++
	l := c.newLife()
	l.req, l.number, l.arrived, l.notUntil = r, c.arrived, now, Never
	l.seed = Mix(c.cfg.Seed ^ Mix(c.arrived))
	l.req.PromptTokens = max(r.PromptTokens, 0)
	l.output = c.expectedOutput(r.MaxTokens)
	c.total.Observe(int64(now), 1)
	if r.Key != 0 {
		c.rates.Record(int64(now), r.Key, r.PromptTokens)
	}
	c.prompt.Observe(int64(now), float64(r.PromptTokens))
	c.emit(Event{Kind: Arrived, At: now, Request: r.ID, Key: r.Key})
	return c.advance(now, l)
}

func (c *Core) expectedOutput(maxTokens int) float64 {
	mean, known := c.output.Value()
	switch {
	case maxTokens > 0 && (!known || float64(maxTokens) < mean):
		return float64(maxTokens)
	default:
		return mean
	}
}

// Answer continues a life with a strategy's decision; ok is false if it failed
// or missed its deadline.
func (c *Core) Answer(now Time, t Ticket, d Decision, ok bool) Step {
	l := c.life(t, asking)
	if l == nil {
		return Step{}
	}
	k := &c.links[l.link]
	if !ok {
		if k.misses++; k.misses >= missesToSkip {
			k.probeAt = now.Add(probeEvery)
		}
		l.fallback = "missed"
		l.link++
		return c.advance(now, l)
	}
	k.misses = 0
	return c.decide(now, l, d)
}

// Fetched continues a life with the facts that were found; none on expiry.
func (c *Core) Fetched(now Time, t Ticket, facts []Fact) Step {
	l := c.life(t, fetching)
	if l == nil {
		return Step{}
	}
	l.facts = facts
	c.adoptHolds(now, l)
	return c.advance(now, l)
}

// Timeout ends the life of a request that waited as long as allowed.
func (c *Core) Timeout(now Time, t Ticket) Step {
	l := c.life(t, parked)
	if l == nil {
		return Step{}
	}
	return c.refuse(now, l, Refusal{Code: WaitedLong, Reason: "no worker became free in time"})
}

// Dispatched corrects the core's belief: the request went to worker id, not to
// the one that the step named. Unknown workers are ignored.
func (c *Core) Dispatched(now Time, t Ticket, id string) {
	l := c.life(t, running)
	if l == nil || l.worker.info.ID == id {
		return
	}
	if slot := c.slot(id); slot >= 0 {
		c.release(l)
		c.credit(now, l, slot)
	}
}

// FirstToken reports the first generated token of the attempt.
func (c *Core) FirstToken(now Time, t Ticket) {
	l := c.life(t, running)
	if l == nil || l.gotFirst {
		return
	}
	l.gotFirst = true
	c.totals.queued -= l.worker.unqueue(l)
	l.worker.ttft.Observe(int64(now), now.Sub(l.dispatched).Seconds())
	c.emit(Event{Kind: FirstToken, At: now, Request: l.req.ID, Key: l.req.Key, Worker: l.worker.ref(), Attempt: l.attempt, By: c.links[l.by].name})
}

// Retry reports that the attempt failed before its first byte, and asks for
// another worker.
func (c *Core) Retry(now Time, t Ticket) Step {
	l := c.life(t, running)
	if l == nil {
		return Step{}
	}
	c.emit(Event{Kind: FailedAttempt, At: now, Request: l.req.ID, Key: l.req.Key, Worker: l.worker.ref(), Attempt: l.attempt, By: c.links[l.by].name})
	c.release(l)
	l.tried = append(l.tried, l.worker)
	l.worker = nil
	if l.attempt >= c.cfg.MaxAttempts {
		return c.refuse(now, l, Refusal{Code: NoAttempt, Reason: "every attempt at a worker failed"})
	}
	for len(l.ranking) > 0 {
		r := l.ranking[0]
		l.ranking = l.ranking[1:]
		if slot := c.slotOf(r.worker); slot >= 0 && c.eligible(r.worker, l) {
			return c.place(now, l, slot, l.by, "ranking", r.rank)
		}
	}
	l.link, l.fallback = 0, "retry"
	return c.advance(now, l)
}

// Finish ends a life and releases everything it holds.
func (c *Core) Finish(now Time, t Ticket, e Ending) {
	l := c.current(t)
	if l == nil {
		return
	}
	if l.state == running {
		if e.Outcome == Completed {
			c.learn(now, l, e.Usage)
		}
		c.release(l)
	}
	c.end(l)
}

func (c *Core) learn(now Time, l *life, u Usage) {
	if u.OutputTokens > 0 {
		c.output.Observe(int64(now), float64(u.OutputTokens))
	}
	l.worker.latency.Observe(int64(now), now.Sub(l.dispatched).Seconds())
	c.emit(Event{Kind: Finished, At: now, Request: l.req.ID, Key: l.req.Key, Worker: l.worker.ref(), Attempt: l.attempt, By: c.links[l.by].name, Usage: u})
}

func (c *Core) refuse(_ Time, l *life, r Refusal) Step {
	t := l.ticket
	c.end(l)
	return Step{Kind: DoRefuse, Ticket: t, Refusal: r}
}

// Tick does what time alone brings: it expires lives whose ending was never
// reported, holds, working sets and silent peers. Call it about once a second.
func (c *Core) Tick(now Time) (expired int) {
	for l := c.oldest.first(); l != nil && now.Sub(l.arrived) > c.cfg.MaxLife; l = c.oldest.first() {
		if l.state == running {
			c.release(l)
		}
		c.end(l)
		expired++
	}
	for i := range c.links {
		c.links[i].expireHolds(now)
	}
	for _, w := range c.workers {
		w.working.expire(now, c.cfg.WorkingSet)
	}
	c.dropSilentPeers(now)
	return expired
}
