package router

import "time"

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

// keepsWorkingSets reports whether any plan in force uses the feature.
func (c *Core) keepsWorkingSets() bool {
	for i := range c.links {
		if p := c.links[i].plan; p != nil && p.needsWorkingSet {
			return true
		}
	}
	return false
}
