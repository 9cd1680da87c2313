package router

import (
	"math"
	"slices"
	"time"

	"gatewayd/pkg/estimator"
)

// worker is the core's record of one life of a worker. Requests in flight keep
// theirs when the worker leaves, so a worker that comes back starts at zero.
type worker struct {
	slot     int // in Core.workers, -1 when it left
	limit    int // requests it may have in flight: none if it is down
	admits   int // of them this gateway's
	kvLimit  int // tokens it may hold before it gets no more
	inFlight int // this gateway's
	held     int // tokens of their prompts and expected outputs
	queued   int // uncached tokens without a first token, this gateway's
	peers    peersLoad
	told     struct{ inFlight, queued int } // of this gateway's, what its peers know
	idHash   uint64
	number   uint32 // counts lives, so that a mark on a key names one
	info     Member
	ttft     estimator.Mean
	latency  estimator.Mean
	working  workingSet
	missed   missed
	pause    pause
	prefixes *prefixes // nil: nothing is believed to be in its cache

	looked, found float64 // tokens, by its own counters
	counted       bool
}

func (w *worker) ref() WorkerRef { return WorkerRef{w.info.ID, w.info.Incarnation} }

// load is the requests in flight at the worker, of all gateways.
func (w *worker) load() int { return w.inFlight + w.peers.inFlight }

func (w *worker) tokens() int { return w.queued + w.peers.queued }

// crowd is the load that the worker is likely to have by now: what this gateway has
// not told its peers yet, each of them has not told either.
func (c *Core) crowd(w *worker) float64 {
	if c.alike == 0 {
		return float64(w.load())
	}
	requests, _ := w.fresh()
	return float64(w.load()) + c.untold(requests)
}

// crowdTokens is crowd in tokens.
func (c *Core) crowdTokens(w *worker) float64 {
	if c.alike == 0 {
		return float64(w.tokens())
	}
	_, tokens := w.fresh()
	return float64(w.tokens()) + c.untold(tokens)
}

// fresh is what this gateway has added to the worker's load since it told its peers.
func (w *worker) fresh() (requests, tokens int) {
	return max(w.inFlight-w.told.inFlight, 0), max(w.queued-w.told.queued, 0)
}

// untold is what the peers are likely to have added to a figure since they told of
// it, if this gateway has added own.
func (c *Core) untold(own int) float64 {
	if c.alike == 0 {
		return 0
	}
	return float64(c.alike) * float64(own) / oneAlike
}

// open reports whether the worker is up, does not pause and is below its limits.
func (w *worker) open() bool {
	return w.load() < w.limit && w.inFlight < w.admits && w.pause.admits(w.inFlight) && (w.kvLimit == math.MaxInt || w.holds() < float64(w.kvLimit))
}

// holds is how many tokens are in flight at the worker, of all gateways: requests of
// which only the number is told count as the mean of the others.
func (w *worker) holds() float64 {
	sized := w.inFlight + w.peers.sized
	if sized == 0 {
		return 0
	}
	return float64(w.held+w.peers.held) * float64(w.load()) / float64(sized)
}

// limitOf is the most requests that a member may have in flight now.
func limitOf(m *Member) int {
	if m.Down {
		return 0
	}
	return orNone(m.Concurrency)
}

// orNone is a limit that none stands for if it is not positive.
func orNone(limit int) int {
	if limit <= 0 {
		return math.MaxInt
	}
	return limit
}

// totals are sums over the pool's workers that are up.
type totals struct {
	up, open, inFlight, queued int
	fresh                      struct{ inFlight, queued int } // of these, what no peer was told
}

func (t *totals) add(w *worker) {
	if w.info.Down {
		return
	}
	t.up++
	if w.open() {
		t.open++
	}
	t.inFlight += w.load()
	t.queued += w.tokens()
	requests, tokens := w.fresh()
	t.fresh.inFlight += requests
	t.fresh.queued += tokens
}

func (c *Core) newWorker(id string) *worker {
	c.begun++
	w := &worker{idHash: HashID(id), number: c.begun}
	w.ttft.HalfLife, w.latency.HalfLife = 30*time.Second, 30*time.Second
	w.working.init()
	return w
}

// serves reports whether the worker is up and has what the request needs.
func (c *Core) serves(w *worker, l *life) bool {
	return !w.info.Down && (l.req.Adapter == "" || slices.Contains(w.info.Adapters, l.req.Adapter))
}

// eligible reports whether the request may go to the worker now.
func (c *Core) eligible(w *worker, l *life) bool {
	return w.slot >= 0 && w.open() && c.serves(w, l) && !l.hasTried(w)
}

func (l *life) hasTried(w *worker) bool {
	return len(l.tried) > 0 && slices.Contains(l.tried, w)
}

func (c *Core) eligibleCount(l *life) int {
	if l.req.Adapter == "" && len(l.tried) == 0 {
		return c.totals.open
	}
	n := 0
	for _, w := range c.workers {
		if c.eligible(w, l) {
			n++
		}
	}
	return n
}

// credit books the request on the worker of a slot, at once.
func (c *Core) credit(now Time, l *life, w *worker) {
	l.worker, l.dispatched, l.gotFirst = w, now, false
	l.cached, l.queued = -1, l.req.PromptTokens
	if c.index != nil && len(l.req.Blocks) > 0 {
		l.cached = c.cachedAt(w, l)
		l.queued -= l.cached
		c.dropped.Blocks += uint64(c.index.insert(w, l.req.Blocks, l.req.BlockTokens))
		c.forgetCached()
	}
	c.book(w, 1, l.queued, l.held)
	if c.keepsWorkingSets() {
		w.working.touch(now, l.req.Key, l.req.PromptTokens)
		w.missed.tokens += float64(l.queued)
	}
	c.rates.Mark(l.req.Key, w.number)
	c.bindAll(now, l, w)
	c.report(Dispatched, now, l, Usage{})
}

// release takes the request off its worker's books.
func (c *Core) release(l *life) {
	c.unqueue(l)
	c.book(l.worker, -1, 0, -l.held)
	c.settled = false
	c.freed++
}

// unqueue takes the request's tokens off its worker's queue.
func (c *Core) unqueue(l *life) {
	c.book(l.worker, 0, -l.queued, 0)
	l.queued = 0
}

// book changes a worker's load by this gateway's requests, and the totals with
// it. It is the one place that does.
func (c *Core) book(w *worker, requests, tokens, held int) {
	counted := w.slot >= 0 && !w.info.Down
	wasOpen := w.open()
	freshRequests, freshTokens := w.fresh()
	w.inFlight += requests
	w.queued += tokens
	w.held += held
	if !counted {
		return
	}
	c.totals.inFlight += requests
	c.totals.queued += tokens
	nowRequests, nowTokens := w.fresh()
	c.totals.fresh.inFlight += nowRequests - freshRequests
	c.totals.fresh.queued += nowTokens - freshTokens
	switch isOpen := w.open(); {
	case isOpen && !wasOpen:
		c.totals.open++
	case wasOpen && !isOpen:
		c.totals.open--
	}
}

// recount sums the loads of the workers that are up.
func (c *Core) recount() {
	c.totals = totals{}
	for _, w := range c.workers {
		c.totals.add(w)
	}
}
