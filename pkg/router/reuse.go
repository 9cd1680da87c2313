package router

import (
	"math"
	"time"

	"gatewayd/pkg/estimator"
)

// Reuse is the share of prompt tokens that came from prefix caches lately, by
// the best signal there is.
type Reuse struct {
	By    Signal
	Share float64 // 0..1
}

// Signal is a way to measure reuse; the lower one is the better one.
type Signal uint8

const (
	NoSignal Signal = iota // reuse is unknown
	ByUsage                // cached tokens in the usage of finished requests
	ByScrape               // prefix cache hits and queries of the workers' own metrics
	ByTTFT                 // times to first token per token of keys that came before, against new ones
)

// String returns the signal's name.
func (s Signal) String() string {
	switch s {
	case ByUsage:
		return "usage"
	case ByScrape:
		return "scraped counters"
	case ByTTFT:
		return "times to first token"
	}
	return "no signal"
}

// reuse measures this gateway's reuse by all signals.
type reuse struct {
	usage, scraped estimator.Ratio
	depth          estimator.Ratio // cached share of prompts of which some was cached
	first, again   estimator.Ratio // seconds to first token per prompt token
}

func (r *reuse) init(halfLife time.Duration) {
	for _, q := range []*estimator.Ratio{&r.usage, &r.scraped, &r.depth, &r.first, &r.again} {
		q.HalfLife = halfLife
	}
}

// share is the reuse by the best signal.
func (r *reuse) share() Reuse {
	if v, ok := r.usage.Value(); ok {
		return Reuse{ByUsage, min(v, 1)}
	}
	if v, ok := r.scraped.Value(); ok {
		return Reuse{ByScrape, min(v, 1)}
	}
	first, ok1 := r.first.Value()
	again, ok2 := r.again.Value()
	first, again = min(first, 1), min(again, 1)
	if ok1 && ok2 && first > 0 {
		return Reuse{ByTTFT, min(max(1-again/first, 0), 1)}
	}
	return Reuse{}
}

// learn learns from the usage of a finished request; where that does not tell what
// was cached, depth is what was believed to be.
func (r *reuse) learn(now Time, l *life, u Usage) {
	r.usage.Observe(int64(now), float64(u.CachedTokens), float64(u.PromptTokens))
	found, prompt := u.CachedTokens, u.PromptTokens
	if found < 0 {
		found, prompt = l.cached, l.req.PromptTokens
	}
	if found > 0 {
		r.depth.Observe(int64(now), float64(min(found, prompt)), float64(prompt))
	}
}

// timeReuse learns from a first token. A key that came before has a decayed
// count above that of one request.
func (c *Core) timeReuse(now Time, l *life) {
	if l.req.Key == 0 || l.req.PromptTokens == 0 {
		return
	}
	count := c.rates.Rate(int64(now), l.req.Key) * c.cfg.RateHalfLife.Seconds() / math.Ln2
	q := &c.reuse.first
	if count > 1 {
		q = &c.reuse.again
	}
	q.Observe(int64(now), now.since(l.dispatched).Seconds(), float64(l.req.PromptTokens))
}

// SetCacheUse stores a worker's own counters of prompt tokens looked up in its
// prefix cache and found there, since the worker began; unknown workers are
// ignored. Counters that fell began anew.
func (c *Core) SetCacheUse(now Time, id string, queries, hits float64) {
	i := c.slot(id)
	if i < 0 || !(queries >= 0 && hits >= 0) {
		return
	}
	w := c.workers[i]
	more, found := queries-w.looked, hits-w.found
	if w.counted && more > 0 && found >= 0 {
		c.reuse.scraped.Observe(int64(now), found, more)
	}
	w.looked, w.found, w.counted = queries, hits, true
}
