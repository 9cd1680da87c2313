package router

import (
	"math"
	"slices"
	"time"

	"gatewayd/pkg/estimator"
)

// WorkerLoad is one gateway's part of a worker's load.
type WorkerLoad struct {
	WorkerRef
	InFlight, QueuedTokens int
	// HeldTokens are those of the prompts and expected outputs in flight; 0 if they are
	// not told.
	HeldTokens int
}

// Snapshot is what a gateway tells its peers: its own demand and load, never
// what it learned from others, so that snapshots add up.
type Snapshot struct {
	TotalRate float64 // req/s
	// Rates are ordered by key; a mark is the place of the key's last worker in
	// Loads plus one.
	Rates []estimator.Rate
	Loads []WorkerLoad
}

// maxPeers bounds the gateways whose snapshots are kept.
const maxPeers = 256

type peer struct {
	snapshot Snapshot
	at       Time // when its figures were taken
	alike    int  // how much it sends, of oneAlike for as much as this gateway or more
}

// oneAlike is a peer that sends as much as this gateway. Parts of it are whole
// numbers, whose sum does not depend on the order.
const oneAlike = 256

// alikeness says how much a peer sends beside this gateway's own rate.
func alikeness(peer, own float64) int {
	if !(peer > 0) { // nothing, or no number
		return 0
	}
	return int(oneAlike * min(peer/max(own, math.SmallestNonzeroFloat64), 1))
}

// Export returns what this gateway tells its peers, and counts it as told. The returned function
// builds the snapshot and may be called outside of the core's lock; it does not
// tell of keys slower than floor requests per second.
func (c *Core) Export(now Time, floor float64) func() Snapshot {
	s := Snapshot{TotalRate: c.total.Rate(int64(now))}
	places := make(map[uint32]uint32, len(c.workers))
	for i, w := range c.workers {
		s.Loads = append(s.Loads, WorkerLoad{w.ref(), w.inFlight, w.queued, w.held})
		w.told.inFlight, w.told.queued = w.inFlight, w.queued
		places[w.number] = uint32(i) + 1
	}
	c.recount()
	frozen := c.rates.Freeze()
	return func() Snapshot {
		s.Rates = frozen.At(int64(now), floor)
		remark(s.Rates, places)
		return s
	}
}

// remark translates the marks of rates in place; those not in names are taken off.
func remark(rates []estimator.Rate, names map[uint32]uint32) {
	for i := range rates {
		rates[i].Mark = names[rates[i].Mark]
	}
}

// ratesAt returns the rates with marks in terms of places in a fleet.
func (s Snapshot) ratesAt(fleet map[WorkerRef]uint32) []estimator.Rate {
	places := make(map[uint32]uint32, len(s.Loads))
	for i, l := range s.Loads {
		if place, ok := fleet[l.WorkerRef]; ok {
			places[uint32(i)+1] = place
		}
	}
	out := slices.Clone(s.Rates)
	remark(out, places)
	return out
}

// Import replaces what is known of a peer; taken is when it took the snapshot.
// The snapshot is as Export made or UnmarshalBinary read it, and must not be
// changed afterwards. At most 256 peers are known; further ones are ignored.
func (c *Core) Import(taken Time, name string, s Snapshot) {
	if _, known := c.peers[name]; !known && len(c.peers) >= maxPeers {
		return
	}
	c.bookPeer(c.peers[name], -1)
	p := peer{s, taken, alikeness(s.TotalRate, c.total.Rate(int64(taken)))}
	c.peers[name] = p
	c.bookPeer(p, 1)
	c.recount()
	c.settled = false
}

// DropPeer forgets a peer that is gone.
func (c *Core) DropPeer(name string) {
	delete(c.peers, name)
	c.applyPeers()
}

// dropSilentPeers drops peers whose figures are too old. Those from the future
// count as taken now, so that they age too.
func (c *Core) dropSilentPeers(now Time) {
	n := len(c.peers)
	for name, p := range c.peers {
		if p.at > now {
			c.peers[name] = peer{p.snapshot, now, p.alike}
		}
		if now.Sub(p.at) > c.cfg.PeerLife {
			delete(c.peers, name)
		}
	}
	if len(c.peers) != n {
		c.applyPeers()
	}
}

// Peers returns the names of the peers whose figures are in use, in order.
func (c *Core) Peers() []string {
	names := make([]string, 0, len(c.peers))
	for name := range c.peers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// peersAge is the age of the oldest peer's figures, 0 without peers.
func (c *Core) peersAge(now Time) time.Duration {
	var age time.Duration
	for _, p := range c.peers {
		age = max(age, now.since(p.at))
	}
	return age
}

// applyPeers books the peers' loads on the workers afresh.
func (c *Core) applyPeers() {
	c.alike = 0
	for _, w := range c.workers {
		w.peers = peersLoad{}
	}
	for _, p := range c.peers {
		c.bookPeer(p, 1)
	}
	c.recount()
	c.settled = false
}

// bookPeer puts a peer's loads on the workers' books, or takes them off if sign is
// -1.
func (c *Core) bookPeer(p peer, sign int) {
	c.alike += sign * p.alike
	for i := range p.snapshot.Loads {
		load := &p.snapshot.Loads[i]
		if at := c.slot(load.ID); at >= 0 && c.workers[at].info.Incarnation == load.Incarnation {
			c.workers[at].peers.add(load, sign)
		}
	}
}

// peersLoad is what peers have at a worker.
type peersLoad struct {
	inFlight, queued int
	held, sized      int // tokens held by those in flight whose size is told, and how many these are
}

// add adds a peer's part, or takes it off if sign is -1.
func (p *peersLoad) add(l *WorkerLoad, sign int) {
	inFlight, held := min(max(l.InFlight, 0), maxPeerInFlight), min(max(l.HeldTokens, 0), maxPeerTokens)
	p.inFlight += sign * inFlight
	p.queued += sign * min(max(l.QueuedTokens, 0), maxPeerTokens)
	if held > 0 {
		p.held += sign * held
		p.sized += sign * inFlight
	}
}
