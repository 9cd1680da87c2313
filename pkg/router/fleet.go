package router

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gatewayd/pkg/estimator"
)

// maxWorkerID is the longest worker ID in bytes.
const maxWorkerID = 1 << 10

// Member is one worker of the pool as discovery sees it.
type Member struct {
	Worker
	Adapters []string // LoRA adapters loaded, beside the base model
	Down     bool     // takes no new requests: unhealthy, tripped or draining
	// Admit is the most requests of this core that the worker may have in flight
	// for now, beside Concurrency: on trial, or while it starts slowly; 0 = no limit.
	Admit int
	// KVLimit is how many tokens of prompts and expected outputs may be in flight at
	// the worker before it gets no further request; 0 = no limit. Those of peers count
	// as large as these tell.
	KVLimit int
}

// same reports whether two members differ in nothing but scraped loads and what
// they admit for now.
func (m Member) same(o Member) bool {
	m.Load, o.Load = Load{}, Load{}
	return m.Worker == o.Worker && m.Down == o.Down && m.KVLimit == o.KVLimit && slices.Equal(m.Adapters, o.Adapters)
}

// SetFleet replaces the pool's workers. A worker with a known ID and
// incarnation keeps its ledger; a new incarnation starts with none and an
// empty cache. No plan becomes due when only loads and what is admitted differ.
// It fails, and changes nothing, on IDs that are empty, repeated or longer than
// 1024 bytes, and on more than MaxPlanWorkers workers.
func (c *Core) SetFleet(now Time, members []Member) error {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	for i := range members {
		m := &members[i]
		m.Carbon.GramsPerKWh = m.Carbon.GramsPerKWh.finite()
		if m.ID == "" || len(m.ID) > maxWorkerID || i > 0 && members[i-1].ID == m.ID {
			return fmt.Errorf("fleet of pool %q: worker ID %.40q is empty, repeated or longer than %d bytes", c.cfg.Pool, m.ID, maxWorkerID)
		}
	}
	if len(members) > MaxPlanWorkers {
		return fmt.Errorf("fleet of pool %q has %d workers, at most %d are allowed", c.cfg.Pool, len(members), MaxPlanWorkers)
	}
	if c.fleet > 0 && slices.EqualFunc(members, c.workers, func(m Member, w *worker) bool { return m.same(w.info) }) {
		c.admit(members)
		return nil
	}
	before := c.workers
	c.workers = make([]*worker, 0, len(members))
	for _, m := range members {
		for len(before) > 0 && before[0].info.ID < m.ID {
			c.leave(now, before[0])
			before = before[1:]
		}
		var old *worker
		if len(before) > 0 && before[0].info.ID == m.ID {
			old, before = before[0], before[1:]
		}
		c.enter(now, old, m)
	}
	for _, w := range before {
		c.leave(now, w)
	}
	c.fleet++
	c.forgetCached()
	for i := range c.links {
		c.links[i].remap(c.workers)
	}
	c.applyPeers()
	return nil
}

// admit takes over how many requests the workers of the fleet admit for now.
func (c *Core) admit(members []Member) {
	for i, w := range c.workers {
		w.info.Admit, w.admits = members[i].Admit, orNone(members[i].Admit)
	}
	c.recount()
	c.settled = false
}

// enter puts a member into the next slot; old is what was known of its ID, nil
// if nothing.
func (c *Core) enter(now Time, old *worker, m Member) {
	w, wasUp := old, old != nil && !old.info.Down
	if old == nil || old.info.Incarnation != m.Incarnation {
		w = c.newWorker(m.ID)
		if old != nil {
			c.detach(old)
			c.emit(Event{Kind: WorkerRestarted, At: now, Worker: WorkerRef{m.ID, m.Incarnation}})
		}
	}
	m.Load = mergeGauges(m.Load, w.info.Load)
	w.info, w.slot, w.limit, w.admits, w.kvLimit = m, len(c.workers), limitOf(&m), orNone(m.Admit), orNone(m.KVLimit)
	c.workers = append(c.workers, w)
	switch {
	case !wasUp && !m.Down:
		c.emit(Event{Kind: WorkerUp, At: now, Worker: w.ref()})
	case wasUp && m.Down:
		c.emit(Event{Kind: WorkerGone, At: now, Worker: w.ref()})
	}
}

func (c *Core) leave(now Time, w *worker) {
	c.detach(w)
	if !w.info.Down {
		c.emit(Event{Kind: WorkerGone, At: now, Worker: w.ref()})
	}
}

// detach takes a life of a worker out of the fleet; its requests keep it.
func (c *Core) detach(w *worker) {
	w.slot = -1
	c.index.forget(w)
}

// SetLoad stores scraped figures of a worker; unknown workers are ignored, and
// a figure that is not a finite number is unknown. The ledger's own figures are
// not touched. The KV use of an engine that tells its batch and not that, as
// llama.cpp, is estimated by what is held in flight there.
func (c *Core) SetLoad(id string, running, waiting, kvUsed Gauge) {
	if i := c.slot(id); i >= 0 {
		w := c.workers[i]
		l := &w.info.Load
		l.Running, l.Waiting, l.KVUsed = running.finite(), waiting.finite(), kvUsed.finite()
		if l.Running.Known() && !l.KVUsed.Known() && w.info.KVTokens > 0 {
			l.KVUsed = Gauge{Value: min(w.holds()/float64(w.info.KVTokens), 1), At: l.Running.At}
		}
	}
}

// ClearCache drops what is believed to be in a worker's prefix cache.
func (c *Core) ClearCache(now Time, id string) {
	if i := c.slot(id); i >= 0 {
		c.index.forget(c.workers[i])
		c.forgetCached()
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

// Loads returns the fleet with its loads at now, workers that are down included.
func (c *Core) Loads(now Time) []Member {
	out := make([]Member, len(c.workers))
	for i, w := range c.workers {
		out[i] = w.info
		out[i].Worker = w.shown(c.peersAge(now))
	}
	return out
}

// shown is the worker as strategies see it.
func (w *worker) shown(peersAge time.Duration) Worker {
	out := w.info.Worker
	out.Load.InFlight, out.Load.QueuedTokens, out.Load.WorkingSet = w.load(), w.tokens(), w.working.tokens
	out.Load.PeersAge = peersAge
	out.Load.TTFT, out.Load.Latency = gauge(&w.ttft), gauge(&w.latency)
	return out
}

// crowded is the worker as a strategy sees it that is asked about a request: with what
// peers are likely to have added since they told.
func (c *Core) crowded(w *worker, peersAge time.Duration) Worker {
	out := w.shown(peersAge)
	if c.alike > 0 {
		out.Load.InFlight, out.Load.QueuedTokens = int(math.Round(c.crowd(w))), int(math.Round(c.crowdTokens(w)))
	}
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
		if a = a.finite(); a == (Gauge{}) {
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
