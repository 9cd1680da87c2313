// Package preble sends a request after a long cached prefix, and otherwise to the
// worker on which it costs least: its recent work and what would be evicted.
//
// Reading order: preble.go (options, decision), cost.go (what a worker has to
// do), cache.go (what it is believed to hold).
package preble

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/rank"
)

const (
	name    = "preble"
	version = "1.0.0"
	// warmUp is how many requests per worker are seen before load is shifted.
	warmUp = 50
)

func options() []router.Option {
	return []router.Option{
		{Name: "window", Default: "180s", Help: "how far back work counts as load"},
		{Name: "threshold", Default: "1.5", Help: "multiple of the least load above which a worker's prefixes are copied away; 0 = never"},
		{Name: "rate", Default: "8000", Help: "prompt tokens per second that a worker computes"},
		{Name: "tpot", Default: "150ms", Help: "time per output token, to turn running requests into load"},
		{Name: "capacity", Default: "198516", Help: "tokens that the cache of a worker holds which states none"},
	}
}

// Definition describes the strategy "preble".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "a cached prefix longer than the rest of the prompt, else the least recent work and eviction (Preble E2, ICLR 2025)",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			p := &preble{
				window:    set.Duration("window", time.Second, 24*time.Hour),
				threshold: set.Float("threshold", 0, 1e6),
				rate:      set.Float("rate", 1, 1e9),
				tpot:      set.Duration("tpot", 0, time.Minute).Seconds(),
				capacity:  set.Int("capacity", 1, 1<<30),
				workers:   map[string]*worker{},
			}
			if p.threshold > 0 && p.threshold < 1 {
				return nil, errThreshold
			}
			return p, set.Err()
		},
	}
}

type preble struct {
	window     time.Duration
	threshold  float64
	rate, tpot float64 // tokens/s, s
	capacity   int     // tokens
	workers    map[string]*worker
	outputs    median
	routed     int
}

// Info says what the strategy does and needs.
func (p *preble) Info() router.Info {
	return router.Info{
		Name: name, Version: version, Routes: true, Cached: true,
		Observes: []router.EventKind{router.Finished, router.WorkerGone, router.WorkerRestarted, router.CacheCleared},
	}
}

// Observe learns output lengths and forgets the workers that lost their caches.
func (p *preble) Observe(events []router.Event) {
	for _, e := range events {
		switch {
		case e.Kind != router.Finished:
			delete(p.workers, e.Worker.ID)
		case e.Usage.OutputTokens > 0:
			p.outputs.add(e.Usage.OutputTokens)
		}
	}
}

// Route decides one request.
func (p *preble) Route(in router.Input) router.Decision {
	matched := 0
	for _, cached := range in.Cached {
		matched = max(matched, cached)
	}
	loads := make([]float64, len(in.Workers))
	for i := range in.Workers {
		loads[i] = p.load(in, i)
	}
	costs, reason := make([]float64, len(in.Workers)), "explore"
	exploit := matched > in.Request.PromptTokens-matched
	for i := range costs {
		costs[i] = loads[i] + p.eviction(in, i)
	}
	if exploit {
		reason = "exploit"
	}
	holds := func(i int) bool { return exploit && in.Cached[i] == matched }
	ranking := rank.Best(len(costs), func(a, b int) bool {
		if holds(a) != holds(b) {
			return holds(a)
		}
		return costs[a] < costs[b]
	})
	if to := p.shift(in, loads, ranking[0].Worker); exploit && to >= 0 {
		ranking, reason = rank.First(to, ranking), "shift"
	}
	p.sent(in, ranking[0].Worker)
	return rank.Route(reason, ranking)
}

// shift returns the least loaded worker, if the chosen one is so much more loaded
// that it should give this prefix away and stays above it when it has; else -1.
func (p *preble) shift(in router.Input, loads []float64, chosen int) int {
	if p.threshold == 0 || p.routed < warmUp*len(loads) {
		return -1
	}
	least := 0
	for i, load := range loads {
		if load < loads[least] {
			least = i
		}
	}
	work := float64(in.Request.PromptTokens-in.Cached[least]) / p.rate
	if loads[chosen] > p.threshold*loads[least] && loads[chosen] > loads[least]+work {
		return least
	}
	return -1
}
