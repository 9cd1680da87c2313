package pool

import (
	"slices"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/pkg/router"
)

// Loads takes over scraped figures, once per call, and shows every pool what
// its workers carry from other pools, those of other sets of this gateway
// included.
func (s *Set) Loads(f interface {
	Loads(pool string) []fleet.Load
}, beside ...*Set) {
	pools := *s.pools.Load()
	scraped := map[string]router.Load{} // by worker, of all pools
	sent := map[string]int{}
	owned := map[string][]router.WorkerLoad{}
	for name, p := range pools {
		loads := f.Loads(name)
		for _, l := range loads {
			scraped[l.ID] = router.Load{Running: l.Running, Waiting: l.Waiting, KVUsed: l.KVUsed}
		}
		p.SetLoads(loads)
		var mine map[string]int
		owned[name], mine = p.own()
		for id, n := range mine {
			sent[id] += n
		}
	}
	elsewhere := map[router.WorkerRef]int{}
	for _, set := range beside {
		for _, p := range set.Pools() {
			for ref, n := range p.inFlight() {
				elsewhere[ref] += n
				sent[ref.ID] += n
			}
		}
	}
	for name, p := range pools {
		p.Carry(add(others(owned, name), elsewhere))
	}
	s.show(scraped, sent)
}

// add adds requests to what workers carry.
func add(loads []router.WorkerLoad, requests map[router.WorkerRef]int) []router.WorkerLoad {
	for ref, n := range requests {
		i := slices.IndexFunc(loads, func(l router.WorkerLoad) bool { return l.WorkerRef == ref })
		if i < 0 {
			i, loads = len(loads), append(loads, router.WorkerLoad{WorkerRef: ref})
		}
		loads[i].InFlight += n
	}
	return loads
}

// others sums what workers carry in all pools but one.
func others(owned map[string][]router.WorkerLoad, name string) []router.WorkerLoad {
	if len(owned) < 2 {
		return nil
	}
	sums := map[router.WorkerRef]*router.WorkerLoad{}
	var out []*router.WorkerLoad
	for other, loads := range owned {
		if other == name {
			continue
		}
		for _, l := range loads {
			sum := sums[l.WorkerRef]
			if sum == nil {
				sum = &router.WorkerLoad{WorkerRef: l.WorkerRef}
				sums[l.WorkerRef], out = sum, append(out, sum)
			}
			sum.InFlight += l.InFlight
			sum.QueuedTokens += l.QueuedTokens
		}
	}
	flat := make([]router.WorkerLoad, len(out))
	for i, l := range out {
		flat[i] = *l
	}
	return flat
}

// show puts the loads of the workers that have metrics into them.
func (s *Set) show(scraped map[string]router.Load, sent map[string]int) {
	s.measuring.Lock()
	defer s.measuring.Unlock()
	for id, read := range s.workers {
		w := s.telemetry.Load().Metrics.Worker(id)
		w.SetInFlight(sent[id])
		l, ok := scraped[id]
		if !ok {
			l = router.Load{Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown}
		}
		for _, g := range []router.Gauge{l.Running, l.Waiting, l.KVUsed} {
			if at := time.Unix(0, int64(g.At)); g.Known() && at.After(read) {
				read = at
			}
		}
		if s.workers[id] = read; !read.IsZero() {
			w.SetLoad(l, read)
		}
	}
}

// measure keeps one set of worker metrics per worker of the fleet.
func (s *Set) measure(snapshot *fleet.Snapshot) {
	now := map[string]fleet.Member{}
	for _, members := range snapshot.Pools() {
		for _, m := range members {
			now[m.ID] = m
		}
	}
	s.measuring.Lock()
	defer s.measuring.Unlock()
	for id := range s.workers {
		if _, ok := now[id]; !ok {
			s.telemetry.Load().Metrics.RemoveWorker(id)
			delete(s.workers, id)
		}
	}
	for id, m := range now {
		w := s.telemetry.Load().Metrics.Worker(id)
		w.SetUp(!m.Down)
		w.Opened(m.Openings)
		if _, ok := s.workers[id]; !ok {
			s.workers[id] = time.Time{}
		}
	}
}
