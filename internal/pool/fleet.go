package pool

import (
	"slices"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/pkg/router"
)

// otherPools is the name under which the core knows, as one more peer, what the
// pool's workers carry from other pools of this gateway. No gateway has a name
// with a blank.
const otherPools = "other pools"

// SetFleet replaces the pool's workers.
func (p *Pool) SetFleet(members []router.Member) error {
	if skew := p.skew(); skew != 0 {
		members = slices.Clone(members)
		for i := range members {
			shift(&members[i].Carbon.GramsPerKWh, skew)
		}
	}
	var err error
	p.do(func(c *router.Core, now router.Time) {
		err = c.SetFleet(now, members)
	})
	p.replan()
	return err
}

// SetLoads stores scraped figures. Counters of a prefix cache count only if both
// are known, and may be given again: only what has come since is new.
func (p *Pool) SetLoads(loads []fleet.Load) {
	skew := p.skew()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for _, l := range loads {
		for _, g := range []*router.Gauge{&l.Running, &l.Waiting, &l.KVUsed} {
			shift(g, skew)
		}
		p.core.SetLoad(l.ID, l.Running, l.Waiting, l.KVUsed)
		if l.CacheQueries.Known && l.CacheHits.Known {
			p.core.SetCacheUse(now, l.ID, l.CacheQueries.Value, l.CacheHits.Value)
		}
	}
}

// skew is how far the pool's clock is from the wall's, which others read; 0
// unless the wall's was set since the pool began.
func (p *Pool) skew() time.Duration {
	if d := p.now().Sub(router.Time(time.Now().UnixNano())); d.Abs() > time.Second {
		return d
	}
	return 0
}

func shift(g *router.Gauge, by time.Duration) {
	if g.Known() {
		g.At = g.At.Add(by)
	}
}

// Loads returns the pool's workers with their loads.
func (p *Pool) Loads() []router.Member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.Loads(p.now())
}

// PausedFor returns how long a worker is still left alone because it had too much to
// do; 0 if it is not.
func (p *Pool) PausedFor(worker string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.PausedFor(p.now(), worker)
}

// Peers returns the names of the gateways whose figures are in use.
func (p *Pool) Peers() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peers()
}

// peers is Peers with the lock held.
func (p *Pool) peers() []string {
	return slices.DeleteFunc(p.core.Peers(), func(name string) bool { return name == otherPools })
}

// own returns what the workers carry of this pool's requests, of all gateways,
// and of those the ones in flight that this gateway sent.
func (p *Pool) own() (loads []router.WorkerLoad, sent map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent = make(map[string]int, len(p.sent))
	for _, m := range p.core.Loads(p.now()) {
		l := router.WorkerLoad{
			WorkerRef: router.WorkerRef{ID: m.ID, Incarnation: m.Incarnation},
			InFlight:  m.Load.InFlight, QueuedTokens: m.Load.QueuedTokens,
		}
		if c, ok := p.carried[m.ID]; ok && c.Incarnation == m.Incarnation {
			l.InFlight, l.QueuedTokens = max(l.InFlight-c.InFlight, 0), max(l.QueuedTokens-c.QueuedTokens, 0)
		}
		loads = append(loads, l)
		sent[m.ID] = p.sent[m.ID]
	}
	return loads, sent
}

// inFlight returns the requests that this pool has at each worker.
func (p *Pool) inFlight() map[router.WorkerRef]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[router.WorkerRef]int{}
	for _, m := range p.core.Loads(p.now()) {
		if n := p.sent[m.ID]; n > 0 {
			out[router.WorkerRef{ID: m.ID, Incarnation: m.Incarnation}] = n
		}
	}
	return out
}

// Carry tells the pool what its workers carry from other pools, in place of what
// it was told before; workers that it does not have are ignored.
func (p *Pool) Carry(loads []router.WorkerLoad) {
	p.do(func(c *router.Core, now router.Time) {
		if p.carried = nil; len(loads) == 0 {
			c.DropPeer(otherPools)
			return
		}
		p.carried = make(map[string]router.WorkerLoad, len(loads))
		for _, l := range loads {
			p.carried[l.ID] = l
		}
		c.Import(now, otherPools, router.Snapshot{Loads: loads})
	})
}
