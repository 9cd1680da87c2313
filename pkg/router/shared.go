package router

import "encoding/binary"

// MaxFact is the most that the value of one shared fact may hold, in bytes.
const MaxFact = 4 << 10

// holdFamily prefixes the fact family of a strategy's shared holds.
const holdFamily = "hold/"

// share tells other gateways of a hold, anew when half of its time has passed.
func (c *Core) share(now Time, k *link, key uint64, h *hold) {
	if c.sharesHolds() && (h.saved == Never || h.saved.Sub(now) < h.ttl/2) {
		h.saved = h.until
		c.write(Write{Fact{FactKey{k.family, key}, encodeRef(h.worker.ref())}, h.ttl})
	}
}

// sharesHolds reports whether other gateways are told of holds, and asked for theirs.
func (c *Core) sharesHolds() bool { return c.cfg.FetchDeadline > 0 && !c.cfg.Alone }

// needsHold reports whether another gateway may hold the key for the strategy
// while this one does not.
func (c *Core) needsHold(now Time, k *link, l *life) bool {
	if c.cfg.Alone || l.req.Key == 0 || !k.binds() {
		return false
	}
	h := k.holds.get(l.req.Key)
	return h == nil || !h.alive(now) || !c.serves(h.worker, l)
}

// reads reports whether the strategy would be asked with shared facts.
func (k *link) reads(l *life) bool { return l.req.Key != 0 && k.info.Routes && len(k.info.Facts) > 0 }

// factKeys lists all that the rest of the chain may want, so that one request
// fetches at most once.
func (c *Core) factKeys(now Time, l *life) []FactKey {
	var keys []FactKey
	for i := l.link; i < len(c.cfg.Links); i++ {
		k := &c.links[i]
		if c.needsHold(now, k, l) {
			keys = append(keys, FactKey{k.family, l.req.Key})
		}
		if k.reads(l) && !k.skipped(now) {
			for _, family := range k.info.Facts {
				keys = append(keys, FactKey{family, l.req.Key})
			}
		}
	}
	return keys
}

// adoptHolds takes over holds that other gateways wrote, if that life of their
// worker is there. Values that make no sense are ignored, as if nobody had written
// them.
func (c *Core) adoptHolds(now Time, l *life) {
	for i := l.link; i < len(c.cfg.Links); i++ {
		k := &c.links[i]
		if !c.needsHold(now, k, l) {
			continue
		}
		for _, f := range l.facts {
			if f.FactKey != (FactKey{k.family, l.req.Key}) {
				continue
			}
			ref, _ := decodeRef(f.Value)
			if slot := c.slot(ref.ID); slot >= 0 && c.workers[slot].ref() == ref {
				h, _, evicted := k.holds.put(f.Key)
				if evicted {
					c.dropped.Holds++
				}
				ttl := k.plan.plan.Bind.TTL
				*h = hold{worker: c.workers[slot], until: now.Add(ttl), ttl: ttl, saved: Never, guard: k.plan.plan.Guard}
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
