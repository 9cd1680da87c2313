package router

import (
	"math"
	"time"
)

// hold keeps a key on a worker until a time.
type hold struct {
	worker *worker
	until  Time
	ttl    time.Duration // by which every use renews it
	saved  Time          // until when the shared copy lives, Never if there is none
	guard  Guard
	maker  uint64 // number of the life that chose the worker, 0 if another gateway's did
	start  uint64 // first block of the prompt that the worker served last, 0 if unknown
}

func (h *hold) alive(now Time) bool { return h.until > now && h.worker.slot >= 0 }

// byHold returns the slot of the worker that holds the request's key, -1 if
// none does or the hold does not apply now. A hold on a worker that is down
// waits for it, until the key is bound elsewhere. Of a strategy that only plans,
// none applies while its plan binds nothing.
func (c *Core) byHold(now Time, k *link, l *life) int {
	if k.holds == nil || l.req.Key == 0 || k.plan != nil && !k.binds() && !k.info.Routes {
		return -1
	}
	h := k.holds.get(l.req.Key)
	if h == nil {
		return -1
	}
	switch {
	case !h.alive(now):
		k.holds.remove(l.req.Key)
		return -1
	case c.isCold(k, h, l):
		h.worker.working.forget(l.req.Key)
		k.holds.remove(l.req.Key)
		l.freed = true
		return -1
	}
	if !c.eligible(h.worker, l) {
		return -1
	}
	if c.above(&h.guard, h.worker) {
		l.fallback = "guard"
		return -1
	}
	return h.worker.slot
}

// byNewHold looks for a hold that came to be while a strategy was asked, so that
// concurrent first turns of a key share the first one's worker.
func (c *Core) byNewHold(now Time, l *life) (link, slot int) {
	for i := range min(l.link+1, len(c.cfg.Links)) {
		if slot := c.byHold(now, &c.links[i], l); slot >= 0 {
			return i, slot
		}
	}
	return -1, -1
}

func (k *link) binds() bool { return k.plan != nil && k.plan.plan.Bind.TTL > 0 }

func (k *link) keeps() bool { return k.plan != nil && k.plan.plan.Bind.Keep }

// isCold reports whether so little of the prompt is left in the held worker's
// cache that moving costs nothing. Of a prompt that the worker had not begun to
// see before, nothing can be left, and nothing can have gone.
func (c *Core) isCold(k *link, h *hold, l *life) bool {
	if k.plan == nil || c.index == nil || len(l.req.Blocks) == 0 || h.start != l.req.Blocks[0] {
		return false
	}
	share := k.plan.plan.Bind.MinCached
	return share > 0 && !c.index.has(h.worker, l.req.Blocks, int(math.Ceil(share*float64(len(l.req.Blocks)))))
}

// bindAll makes every binding strategy hold the request's key on w, the worker
// that it is dispatched to, whichever strategy chose it.
func (c *Core) bindAll(now Time, l *life, w *worker) {
	if l.req.Key == 0 {
		return
	}
	for i := range c.cfg.Links {
		k := &c.links[i]
		switch {
		case k.binds():
			b := &k.plan.plan.Bind
			c.share(now, k, l.req.Key, c.bind(now, k, l, w, b.TTL, k.plan.plan.Guard))
		case l.by == i && l.hold.TTL > 0:
			c.bind(now, k, l, w, l.hold.TTL, l.hold.Guard)
		case l.by == i:
			if h := k.holds.get(l.req.Key); h != nil && h.worker == w {
				c.bind(now, k, l, w, h.ttl, h.guard)
			}
		}
	}
}

// bind holds the key on w, or goes on holding it where it is if the strategy
// keeps first bindings.
func (c *Core) bind(now Time, k *link, l *life, w *worker, ttl time.Duration, g Guard) *hold {
	h, _, evicted := k.holds.put(l.req.Key)
	if evicted {
		c.dropped.Holds++
	}
	stays := h.worker != nil && k.keeps() && h.alive(now) && c.serves(h.worker, l)
	if h.worker != w && !stays {
		*h = hold{worker: w, saved: Never, maker: l.number}
	}
	h.until, h.ttl, h.guard = now.Add(ttl), ttl, g
	if h.worker == w && len(l.req.Blocks) > 0 {
		h.start = l.req.Blocks[0]
	}
	return h
}

// unbind drops the holds that the request made at its worker, which turned out
// not to be the one that serves it.
func (c *Core) unbind(l *life) {
	for i := range c.cfg.Links {
		holds := c.links[i].holds
		if h := holds.get(l.req.Key); h != nil && h.maker == l.number && h.worker == l.worker {
			holds.remove(l.req.Key)
		}
	}
}

// Forget drops a key's holds and rate, on the operator's wish, and writes over
// the holds that it shares. What other gateways hold themselves is theirs.
func (c *Core) Forget(now Time, key uint64) {
	for i := range c.cfg.Links {
		k := &c.links[i]
		k.holds.remove(key)
		if c.sharesHolds() && k.binds() && key != 0 {
			c.write(Write{Fact{FactKey{k.family, key}, nil}, k.plan.plan.Bind.TTL})
		}
	}
	c.rates.Forget(key)
	c.emit(Event{Kind: Forgotten, At: now, Key: key})
}

// Holds returns the number of keys that link i holds.
func (c *Core) Holds(i int) int {
	if i < 0 || i >= len(c.cfg.Links) {
		return 0
	}
	return c.links[i].holds.len()
}

// expireHolds drops holds that ran out, oldest use first.
func (k *link) expireHolds(now Time) {
	if k.holds == nil {
		return
	}
	for {
		_, h := k.holds.oldest()
		if h == nil || h.alive(now) {
			return
		}
		k.holds.removeOldest()
	}
}
