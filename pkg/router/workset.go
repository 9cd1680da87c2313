package router

import (
	"math"
	"time"
)

// maxWorkingKeys bounds the keys of one worker's working set.
const maxWorkingKeys = 1 << 16

// workingSet sums the prompt tokens of the keys seen at a worker within a
// window: what its cache would have to hold to serve their next turns.
type workingSet struct {
	keys   *lru[uint64, seen]
	tokens int
}

type seen struct {
	at     Time
	tokens int
}

func (s *workingSet) init() { s.keys = newLRU[uint64, seen](maxWorkingKeys) }

func (s *workingSet) touch(now Time, key uint64, tokens int) {
	if key == 0 {
		return
	}
	v, evicted, _ := s.keys.put(key)
	s.tokens += tokens - v.tokens - evicted.tokens
	*v = seen{now, tokens}
}

// forget drops a key whose prompts are of no use to the worker any more.
func (s *workingSet) forget(key uint64) {
	if v := s.keys.get(key); v != nil {
		s.tokens -= v.tokens
		s.keys.remove(key)
	}
}

func (s *workingSet) expire(now Time, window time.Duration) {
	for {
		_, v := s.keys.oldest()
		if v == nil || now.Sub(v.at) <= window {
			return
		}
		s.tokens -= v.tokens
		s.keys.removeOldest()
	}
}

// missedWindows is the half-life of missed work in windows of the working set: a
// prefill is over in seconds, but balance is judged over many sessions.
const missedWindows = 10

// missed is the uncached prompt tokens dispatched to a worker, which fade.
type missed struct {
	tokens float64
	at     Time
}

func (m *missed) decay(now Time, halfLife time.Duration) {
	m.tokens *= math.Exp2(-float64(now.since(m.at)) / float64(halfLife))
	if m.at = now; m.tokens < 1 {
		m.tokens = 0
	}
}

// keepsWorkingSets reports whether any plan in force uses one of the two.
func (c *Core) keepsWorkingSets() bool {
	for i := range c.links {
		if p := c.links[i].plan; p != nil && p.needsWorkingSet {
			return true
		}
	}
	return false
}
