package router

import "maps"

// TakeOver moves to a core that has no requests yet what another core of the
// same pool has learnt: the workers' figures and what is believed to be in their
// caches, the rates of keys and, for each strategy that both chains have by name,
// its plan, the count of its versions and its holds. What is told of workers that
// the new fleet does not have is dropped. The other core keeps its requests, its
// plans and its books; of the rest it begins anew. Both must be of the same Seed,
// RateHalfLife and MaxKeys, and must have their fleets and Infos.
func (c *Core) TakeOver(from *Core) {
	c.arrived, c.begun = from.arrived, from.begun
	heirs := make(map[*worker]*worker, len(c.workers))
	for _, w := range c.workers {
		i := from.slot(w.info.ID)
		if i < 0 || from.workers[i].info.Incarnation != w.info.Incarnation {
			c.begun++
			w.number = c.begun
			continue
		}
		heirs[from.workers[i]] = w
		w.takeOver(from.workers[i])
	}
	c.rates, from.rates = from.rates, c.rates
	c.total, c.output, c.prompt, c.reuse = from.total, from.output, from.prompt, from.reuse
	c.peers = maps.Clone(from.peers)
	for i := range c.cfg.Links {
		for j := range from.cfg.Links {
			if c.links[i].name == from.links[j].name {
				c.takeOverLink(i, &from.links[j], heirs)
			}
		}
	}
	c.keepIndex()
	from.forgetCached()
	c.applyPeers()
	c.pausesChanged()
}

// takeOver moves what was learnt of the same life of a worker.
func (w *worker) takeOver(old *worker) {
	w.number, w.ttft, w.latency, w.missed = old.number, old.ttft, old.latency, old.missed
	w.looked, w.found, w.counted = old.looked, old.found, old.counted
	w.pause = old.pause
	w.pause.room = 0 // the other core's requests are none of this one's
	w.prefixes, old.prefixes = old.prefixes, nil
	w.working, old.working = old.working, w.working
	w.info.Load = mergeGauges(w.info.Load, old.info.Load)
}

// takeOverLink moves what a strategy has decided ahead. One whose process is
// still away counts as what it was.
func (c *Core) takeOverLink(i int, old *link, heirs map[*worker]*worker) {
	k := &c.links[i]
	if !k.info.Plans && !k.info.Routes {
		c.SetInfo(i, old.info)
	}
	k.version, k.planned, k.rotation = old.version, old.planned, old.rotation
	if k.info.Plans {
		k.plan = old.plan
	}
	k.holds, old.holds = old.holds, k.holds
	for key := range maps.Clone(k.holds.at) {
		h := k.holds.get(key)
		if h.worker = heirs[h.worker]; h.worker == nil {
			k.holds.remove(key)
		}
	}
	k.remap(c.workers)
}
