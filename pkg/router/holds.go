package router

import (
	"encoding/binary"
	"strings"
	"time"
)

// hold keeps a key on a worker until a time.
type hold struct {
	worker *worker
	until  Time
	saved  Time // until when the shared copy lives, Never if there is none
	guard  Guard
}

func (h *hold) alive(now Time) bool { return h.until > now && h.worker.slot >= 0 }

// byHold returns the slot of the worker that holds the request's key, -1 if
// none does or the hold does not apply now.
func (c *Core) byHold(now Time, k *link, l *life) int {
	if k.holds == nil || l.req.Key == 0 {
		return -1
	}
	h := k.holds.get(l.req.Key)
	if h == nil {
		return -1
	}
	w := h.worker
	if !h.alive(now) || w.info.Down && !k.keeps() || c.isCold(k, w, l) {
		k.holds.remove(l.req.Key)
		return -1
	}
	if !c.eligible(w, l) {
		return -1
	}
	if c.above(&h.guard, w) {
		l.fallback = "guard"
		return -1
	}
	return w.slot
}

func (k *link) keeps() bool { return k.plan != nil && k.plan.plan.Bind.Keep }

// isCold reports whether so little of the prompt is left in the held worker's
// cache that moving costs nothing.
func (c *Core) isCold(k *link, w *worker, l *life) bool {
	if k.plan == nil || c.index == nil || l.req.PromptTokens == 0 {
		return false
	}
	share := k.plan.plan.Bind.MinCached
	return share > 0 && float64(c.cachedTokens(l)[w.slot]) < share*float64(l.req.PromptTokens)
}

// bindAll makes every binding strategy hold the request's key on w, the worker
// that it is dispatched to, whichever strategy chose it.
func (c *Core) bindAll(now Time, l *life, w *worker) {
	if l.req.Key == 0 {
		return
	}
	for i := range c.links {
		k := &c.links[i]
		if k.plan != nil && k.plan.plan.Bind.TTL > 0 {
			c.bind(now, k, l.req.Key, w, k.plan.plan.Bind.TTL, k.plan.plan.Guard)
		} else if l.by == i && l.holdLink == i && l.hold.TTL > 0 {
			c.bind(now, k, l.req.Key, w, l.hold.TTL, l.hold.Guard)
		}
	}
}

func (c *Core) bind(now Time, k *link, key uint64, w *worker, ttl time.Duration, g Guard) {
	old := k.holds.get(key)
	if old != nil && old.alive(now) && old.worker != w && k.keeps() && !old.worker.info.Down {
		w = old.worker
	}
	h, _, _ := k.holds.put(key)
	moved := h.worker != w
	if moved {
		h.saved = Never
	}
	h.worker, h.until, h.guard = w, now.Add(ttl), g
	if c.cfg.FetchDeadline > 0 && (h.saved == Never || h.saved.Sub(now) < ttl/2) {
		h.saved = h.until
		c.write(Write{Fact{FactKey{holdFamily + k.name, key}, encodeRef(w.ref())}, ttl})
	}
}

// Forget drops a key's holds and rate, on the operator's wish.
func (c *Core) Forget(now Time, key uint64) {
	for i := range c.links {
		if h := c.links[i].holds; h != nil {
			h.remove(key)
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

// holdFamily prefixes the fact family of a strategy's shared holds.
const holdFamily = "hold/"

// needsFacts reports whether the strategy may decide otherwise if it knew what
// other gateways wrote.
func (c *Core) needsFacts(k *link, l *life) bool {
	return c.needsHold(k, l) || k.info.Routes && len(k.info.Facts) > 0
}

func (c *Core) needsHold(k *link, l *life) bool {
	return l.req.Key != 0 && k.plan != nil && k.plan.plan.Bind.TTL > 0 && k.holds.get(l.req.Key) == nil
}

// factKeys lists all that the rest of the chain may want, so that one request
// fetches at most once.
func (c *Core) factKeys(l *life) []FactKey {
	var keys []FactKey
	for i := l.link; i < len(c.links); i++ {
		k := &c.links[i]
		if c.needsHold(k, l) {
			keys = append(keys, FactKey{holdFamily + k.name, l.req.Key})
		}
		if k.info.Routes {
			for _, family := range k.info.Facts {
				keys = append(keys, FactKey{family, l.req.Key})
			}
		}
	}
	return keys
}

// adoptHolds takes over holds that other gateways wrote, if their worker lives.
// Values that make no sense are ignored, as if nobody had written them.
func (c *Core) adoptHolds(now Time, l *life) {
	for _, f := range l.facts {
		name, ok := strings.CutPrefix(f.Family, holdFamily)
		if !ok || f.Key != l.req.Key {
			continue
		}
		ref, ok := decodeRef(f.Value)
		slot := c.slot(ref.ID)
		if !ok || slot < 0 || c.workers[slot].ref() != ref {
			continue
		}
		for i := range c.links {
			if k := &c.links[i]; k.name == name && c.needsHold(k, l) {
				h, _, _ := k.holds.put(f.Key)
				*h = hold{c.workers[slot], now.Add(k.plan.plan.Bind.TTL), Never, k.plan.plan.Guard}
			}
		}
	}
}

func encodeRef(r WorkerRef) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, r.Incarnation), r.ID...)
}

func decodeRef(b []byte) (WorkerRef, bool) {
	if len(b) <= 8 {
		return WorkerRef{}, false
	}
	return WorkerRef{string(b[8:]), binary.LittleEndian.Uint64(b)}, true
}
