package sim

import (
	"errors"
	"time"

	"gatewayd/pkg/router"
)

// What gateways take from their shared store, and how, as internal/pool does it.
const (
	fetchBudget = 2 * time.Millisecond // of one read on a request's way
	// leaseIntervals is how many missed exchanges cost a gateway its lease and its
	// peers' figures.
	leaseIntervals = 3
	minPeerLife    = 10 * time.Second
	rateFloor      = 1e-4 // req/s: slower keys are not told of
	maxFacts       = 1 << 18
	minSweep       = 1 << 10
)

var errStale = errors.New("another gateway plans")

// store is what gateways share: figures, the planning lease, plans and facts.
// Its fields are written in the order of events, which is fixed.
type store struct {
	figures []figures // by gateway
	lease   lease
	plans   []published // by link
	facts   map[router.FactKey]fact
	sweepAt int // number of facts at which it is worth while to look for old ones
}

type figures struct {
	snapshot router.Snapshot
	taken    router.Time
	until    router.Time
}

type lease struct {
	holder int32
	fence  uint64
	until  router.Time
}

type published struct {
	plan    *router.Compiled
	version uint64
	fence   uint64
}

type fact struct {
	value []byte
	until router.Time
}

func (s *store) init(gateways, links int) {
	*s = store{figures: make([]figures, gateways), plans: make([]published, links), facts: map[router.FactKey]fact{}, sweepAt: minSweep}
	for i := range s.figures {
		s.figures[i].until = router.Never
	}
	s.lease.until = router.Never
}

// acquire takes or renews the lease and returns its fence, 0 if another gateway
// has it. Fences are never below the clock in microseconds.
func (s *store) acquire(now router.Time, gateway int32, ttl time.Duration) uint64 {
	if s.lease.until <= now {
		micros := uint64(now / router.Time(time.Microsecond))
		s.lease = lease{holder: gateway, fence: max(s.lease.fence+1, micros)}
	}
	if s.lease.holder != gateway {
		return 0
	}
	s.lease.until = now.Add(ttl)
	return s.lease.fence
}

// publish makes a plan the one of all gateways.
func (s *store) publish(link int, p *router.Compiled, fence uint64) error {
	last := &s.plans[link]
	version := p.Plan().Version
	if version <= last.version || fence < max(s.lease.fence, last.fence) {
		return errStale
	}
	*last = published{p, version, fence}
	return nil
}

// write stores facts. Beyond the bound new ones are dropped.
func (s *store) write(now router.Time, writes []router.Write) {
	for _, w := range writes {
		if _, ok := s.facts[w.FactKey]; !ok && len(s.facts) >= maxFacts {
			continue
		}
		s.facts[w.FactKey] = fact{w.Value, now.Add(w.TTL)}
	}
}

// read returns the facts that there are of some keys.
func (s *store) read(now router.Time, keys []router.FactKey) []router.Fact {
	var out []router.Fact
	for _, k := range keys {
		if f, ok := s.facts[k]; ok && f.until > now {
			out = append(out, router.Fact{FactKey: k, Value: f.value})
		}
	}
	return out
}

// sweep forgets facts that ran out, whenever their number has doubled.
func (s *store) sweep(now router.Time) {
	if len(s.facts) < s.sweepAt {
		return
	}
	for k, f := range s.facts {
		if f.until <= now {
			delete(s.facts, k)
		}
	}
	s.sweepAt = min(max(minSweep, 2*len(s.facts)), maxFacts)
}
