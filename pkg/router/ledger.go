package router

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gatewayd/pkg/estimator"
)

// Member is one worker of the pool as discovery sees it.
type Member struct {
	Worker
	Adapters []string // LoRA adapters loaded, beside the base model
	Down     bool     // takes no new requests: unhealthy, tripped or draining
}

// worker is the core's record of one life of a worker. Requests in flight keep
// theirs when the worker leaves, so a worker that comes back starts at zero.
type worker struct {
	info     Member
	idHash   uint64
	slot     int // in Core.workers, -1 when it left
	inFlight int // this gateway's
	queued   int // uncached tokens without a first token, this gateway's
	peers    struct{ inFlight, queued int }
	ttft     estimator.Mean
	latency  estimator.Mean
	working  workingSet
}

func (w *worker) ref() WorkerRef { return WorkerRef{w.info.ID, w.info.Incarnation} }

// load is the requests in flight at the worker, of all gateways.
func (w *worker) load() int { return w.inFlight + w.peers.inFlight }

func (w *worker) tokens() int { return w.queued + w.peers.queued }

// unqueue takes the request's tokens off the worker's queue and returns them.
func (w *worker) unqueue(l *life) int {
	n := l.queued
	w.queued -= n
	l.queued = 0
	if !w.counted() {
		return 0
	}
	return n
}

// counted reports whether the worker's load is in the pool's totals.
func (w *worker) counted() bool { return w.slot >= 0 && !w.info.Down }

// totals are the loads summed over the pool's workers that are up.
type totals struct{ up, inFlight, queued int }

// SetFleet replaces the pool's workers. A worker with a known ID and
// incarnation keeps its ledger; a new incarnation starts with none and an
// empty cache. It fails, and changes nothing, on empty or repeated IDs.
func (c *Core) SetFleet(now Time, members []Member) error {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	for i, m := range members {
		if m.ID == "" || i > 0 && members[i-1].ID == m.ID {
			return fmt.Errorf("fleet of pool %q: worker ID %q is empty or repeated", c.cfg.Pool, m.ID)
		}
	}
	if len(members) > MaxPlanWorkers {
		return fmt.Errorf("fleet of pool %q has %d workers, at most %d are allowed", c.cfg.Pool, len(members), MaxPlanWorkers)
	}
	old := make(map[WorkerRef]*worker, len(c.workers))
	for _, w := range c.workers {
		old[w.ref()] = w
		w.slot = -1
	}
	c.workers = make([]*worker, 0, len(members))
	for i, m := range members {
		ref := WorkerRef{m.ID, m.Incarnation}
		w := old[ref]
		if w == nil {
			w = &worker{idHash: HashID(m.ID)}
			w.ttft.HalfLife, w.latency.HalfLife = 30*time.Second, 30*time.Second
			w.working.init()
			c.joined(now, old, ref)
		}
		delete(old, ref)
		m.Load = mergeGauges(m.Load, w.info.Load)
		w.info, w.slot = m, i
		c.workers = append(c.workers, w)
	}
	for ref, w := range old {
		c.index.forget(w)
		if c.slot(ref.ID) < 0 {
			c.emit(Event{Kind: WorkerGone, At: now, Worker: ref})
		}
	}
	c.fleet++
	c.cachedFor = Ticket{ID: ^uint64(0)}
	for i := range c.links {
		c.links[i].remap(c.workers)
	}
	c.applyPeers()
	return nil
}

func (c *Core) joined(now Time, old map[WorkerRef]*worker, ref WorkerRef) {
	kind := WorkerUp
	for o := range old {
		if o.ID == ref.ID {
			kind = WorkerRestarted
		}
	}
	c.emit(Event{Kind: kind, At: now, Worker: ref})
}

// SetLoad stores scraped figures of a worker; unknown workers are ignored. The
// ledger's own figures are not touched.
func (c *Core) SetLoad(id string, running, waiting, kvUsed Gauge) {
	if i := c.slot(id); i >= 0 {
		l := &c.workers[i].info.Load
		l.Running, l.Waiting, l.KVUsed = running, waiting, kvUsed
	}
}

// ClearCache drops what is believed to be in a worker's prefix cache.
func (c *Core) ClearCache(now Time, id string) {
	if i := c.slot(id); i >= 0 {
		c.index.forget(c.workers[i])
		c.cachedFor = Ticket{ID: ^uint64(0)}
		c.emit(Event{Kind: CacheCleared, At: now, Worker: c.workers[i].ref()})
	}
}

// slot returns the fleet slot of a worker ID, -1 if it is not in the fleet.
func (c *Core) slot(id string) int {
	i, ok := slices.BinarySearchFunc(c.workers, id, func(w *worker, id string) int { return cmp.Compare(w.info.ID, id) })
	if !ok {
		return -1
	}
	return i
}

func (c *Core) slotOf(w *worker) int { return w.slot }

// serves reports whether the worker is up and has what the request needs.
func (c *Core) serves(w *worker, l *life) bool {
	return !w.info.Down && (l.req.Adapter == "" || slices.Contains(w.info.Adapters, l.req.Adapter))
}

// eligible reports whether the request may go to the worker now.
func (c *Core) eligible(w *worker, l *life) bool {
	return w.slot >= 0 && c.serves(w, l) && (w.info.Concurrency <= 0 || w.load() < w.info.Concurrency) && !l.hasTried(w)
}

func (l *life) hasTried(w *worker) bool {
	return len(l.tried) > 0 && slices.Contains(l.tried, w)
}

func (c *Core) eligibleCount(l *life) int {
	n := 0
	for _, w := range c.workers {
		if c.eligible(w, l) {
			n++
		}
	}
	return n
}

// credit books the request on the worker of a slot, at once.
func (c *Core) credit(now Time, l *life, slot int) {
	w := c.workers[slot]
	l.worker, l.dispatched, l.gotFirst = w, now, false
	l.queued = l.req.PromptTokens
	if c.index != nil {
		l.queued = max(0, l.queued-c.cachedTokens(l)[slot])
		c.index.insert(w, l.req.Blocks, l.req.BlockTokens)
		c.cachedFor = Ticket{ID: ^uint64(0)}
	}
	w.inFlight++
	w.queued += l.queued
	if w.counted() {
		c.totals.inFlight++
		c.totals.queued += l.queued
	}
	if c.keepsWorkingSets() {
		w.working.touch(now, l.req.Key, l.req.PromptTokens)
	}
	c.bindAll(now, l, w)
	c.emit(Event{Kind: Dispatched, At: now, Request: l.req.ID, Key: l.req.Key, Worker: w.ref(), Attempt: l.attempt, By: c.links[l.by].name})
}

// release takes the request off its worker's books.
func (c *Core) release(l *life) {
	w := l.worker
	w.inFlight--
	c.totals.queued -= w.unqueue(l)
	if w.counted() {
		c.totals.inFlight--
	}
}

// recount sums the loads of the workers that are up.
func (c *Core) recount() {
	c.totals = totals{}
	for _, w := range c.workers {
		if !w.info.Down {
			c.totals.up++
			c.totals.inFlight += w.load()
			c.totals.queued += w.tokens()
		}
	}
}

// Loads returns the fleet with its loads at now, workers that are down included.
func (c *Core) Loads(now Time) []Member {
	out := make([]Member, len(c.workers))
	for i, w := range c.workers {
		out[i] = w.info
		out[i].Worker = w.shown(now, c)
	}
	return out
}

// shown is the worker as strategies see it.
func (w *worker) shown(now Time, c *Core) Worker {
	out := w.info.Worker
	out.Load.InFlight, out.Load.QueuedTokens, out.Load.WorkingSet = w.load(), w.tokens(), w.working.tokens
	out.Load.PeersAge = c.peersAge(now)
	out.Load.TTFT, out.Load.Latency = gauge(&w.ttft), gauge(&w.latency)
	return out
}

func gauge(m *estimator.Mean) Gauge {
	if v, ok := m.Value(); ok {
		return Gauge{v, Time(m.Last())}
	}
	return Unknown
}

// mergeGauges keeps the newer of the scraped figures that discovery brings and
// those already stored; the zero gauge of a fresh record is unknown.
func mergeGauges(fresh, stored Load) Load {
	pick := func(a, b Gauge) Gauge {
		if a == (Gauge{}) {
			a = Unknown
		}
		if b != (Gauge{}) && b.At > a.At {
			return b
		}
		return a
	}
	return Load{
		Running: pick(fresh.Running, stored.Running),
		Waiting: pick(fresh.Waiting, stored.Waiting),
		KVUsed:  pick(fresh.KVUsed, stored.KVUsed),
	}
}
