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
	// Cached is the part of the prompt, in tokens, that was believed to be in the
	// worker's prefix cache when it was chosen, as in Input.Cached; -1 if nothing is
	// known: no strategy asks for the prefix index, or the prompt shows no blocks.
	Cached int
}

type lifeState uint8

const (
	free    lifeState = iota
	walking           // down the chain, within a call
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

	link       int
	candidates int // eligible workers when the chain was last walked
	fetched    bool
	freed      bool // its key's hold ended, since nothing of it was cached there
	facts      []Fact
	fallback   string
	waitsFrom  Time // when it came into the queue since its last attempt, Never if it did not
	notUntil   Time // a strategy's wish
	eager      bool // to be asked again before, when a place becomes free

	worker     *worker
	by         int
	attempt    int
	queued     int // uncached tokens credited to the worker
	held       int // tokens of the prompt and the expected output
	cached     int // tokens believed to be in its cache before, -1 if unknown
	dispatched Time
	gotFirst   bool
	tried      []*worker
	ranking    []ranked
	shown      []*worker // the workers of the last Input
	hold       Hold      // asked for by the answer that decided, zero if none did
}

type ranked struct {
	worker *worker
	rank   int
}

// Arrive starts the life of a request.
func (c *Core) Arrive(now Time, r Request) (step Step) {
	c.arrived++
	l := c.newLife()
	r = r.bounded()
	l.req, l.number, l.arrived, l.waitsFrom, l.notUntil = r, c.arrived, now, Never, Never
	l.seed = Mix(c.cfg.Seed ^ Mix(c.arrived))
	l.output = c.expectedOutput(r.MaxTokens)
	l.held = r.PromptTokens + int(min(l.output, mostTokens))
	c.total.Observe(int64(now), 1)
	if r.Key != 0 {
		c.rates.Record(int64(now), r.Key, r.PromptTokens)
	}
	c.prompt.Observe(int64(now), float64(r.PromptTokens))
	if c.tells(Arrived) {
		c.emit(Event{Kind: Arrived, At: now, Request: r.ID, Key: r.Key})
	}
	c.advance(now, l, &step)
	return step
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
func (c *Core) Answer(now Time, t Ticket, d Decision, ok bool) (step Step) {
	l := c.life(t, asking)
	if l == nil {
		return step
	}
	k := &c.links[l.link]
	if !ok {
		if k.misses++; k.misses >= missesToSkip {
			k.probeAt = now.Add(probeEvery)
		}
		d = Decision{Reason: "missed"}
	} else {
		k.misses = 0
	}
	for _, w := range d.Writes {
		if w.TTL > 0 && c.cfg.FetchDeadline > 0 {
			c.write(w)
		}
	}
	c.resume(now)
	l.candidates = c.eligibleCount(l)
	if link, slot := c.byNewHold(now, l); slot >= 0 {
		c.placeAhead(now, l, choice{link, slot, 0, "hold"}, &step)
		return step
	}
	return c.decide(now, l, d)
}

// Fetched continues a life with the facts that were found; none on expiry.
func (c *Core) Fetched(now Time, t Ticket, facts []Fact) (step Step) {
	l := c.life(t, fetching)
	if l == nil {
		return step
	}
	l.facts = facts
	c.adoptHolds(now, l)
	c.advance(now, l, &step)
	return step
}

// Timeout ends the life of a request that waited as long as allowed.
func (c *Core) Timeout(now Time, t Ticket) Step {
	l := c.life(t, parked)
	if l == nil {
		return Step{}
	}
	return c.refuse(l, Refusal{Code: WaitedLong, Reason: "no worker became free in time", RetryAfter: c.queueTime()})
}

// Dispatched corrects the core's belief: the request went to worker id, not to
// the one that the step named. Unknown workers are ignored.
func (c *Core) Dispatched(now Time, t Ticket, id string) {
	l, slot := c.life(t, running), c.slot(id)
	if l == nil || slot < 0 || c.workers[slot] == l.worker {
		return
	}
	gotFirst := l.gotFirst
	c.unbind(l)
	c.release(l)
	c.credit(now, l, c.workers[slot])
	if gotFirst {
		l.gotFirst = true
		c.unqueue(l)
	}
}

// FirstToken reports the first generated token of the attempt.
func (c *Core) FirstToken(now Time, t Ticket) {
	l := c.life(t, running)
	if l == nil || l.gotFirst {
		return
	}
	l.gotFirst = true
	c.unqueue(l)
	c.proved(l)
	l.worker.ttft.Observe(int64(now), now.since(l.dispatched).Seconds())
	c.timeReuse(now, l)
	c.report(FirstToken, now, l, Usage{})
}

// Retry reports that the attempt failed before its first byte, and asks for
// another worker.
func (c *Core) Retry(now Time, t Ticket) (step Step) {
	l := c.life(t, running)
	if l == nil {
		return step
	}
	c.report(FailedAttempt, now, l, Usage{})
	c.unbind(l)
	c.release(l)
	l.tried = append(l.tried, l.worker)
	l.worker = nil
	if l.attempt >= c.cfg.MaxAttempts {
		return c.refuse(l, Refusal{Code: NoAttempt, Reason: "every attempt at a worker failed"})
	}
	c.resume(now)
	l.candidates = c.eligibleCount(l)
	if c.placeNext(now, l, l.by, "ranking", &step) {
		return step
	}
	l.restart("retry")
	c.advance(now, l, &step)
	return step
}

// restart has the life walk down the chain from its start.
func (l *life) restart(fallback string) {
	l.state, l.link, l.fallback, l.hold, l.notUntil = walking, 0, fallback, Hold{}, Never
}

// Finish ends a life and releases everything it holds.
func (c *Core) Finish(now Time, t Ticket, e Ending) {
	l := c.current(t)
	if l == nil {
		return
	}
	if l.state == running {
		switch e.Outcome {
		case Completed:
			c.learn(now, l, e.Usage.bounded())
		case Failed:
			c.report(FailedAttempt, now, l, Usage{})
		}
		c.release(l)
	}
	c.end(l)
}

func (c *Core) learn(now Time, l *life, u Usage) {
	if u.OutputTokens > 0 {
		c.output.Observe(int64(now), float64(u.OutputTokens))
	}
	c.proved(l)
	l.worker.latency.Observe(int64(now), now.since(l.dispatched).Seconds())
	c.reuse.learn(now, l, u)
	c.report(Finished, now, l, u)
}

func (c *Core) refuse(l *life, r Refusal) Step {
	t := l.ticket
	c.end(l)
	return Step{Kind: DoRefuse, Ticket: t, Refusal: r}
}

// Tick does what time alone brings: it expires lives whose ending was never
// reported, holds, pauses, working sets and silent peers. Call it about once a second.
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
		w.missed.decay(now, missedWindows*c.cfg.WorkingSet)
	}
	c.dropSilentPeers(now)
	c.resume(now)
	return expired
}
