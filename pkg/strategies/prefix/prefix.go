// Package prefix sends a request to the worker with the longest cached prefix,
// and to the shortest queue when that prefix is short or the queues differ much.
package prefix

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/rank"
)

const (
	name    = "prefix"
	version = "1.0.0"
)

func options() []router.Option {
	return []router.Option{
		{Name: "threshold", Default: "0.5", Help: "share of the prompt that must be cached at a worker for it to be chosen for that"},
		{Name: "abs", Default: "32", Help: "difference of the longest and the shortest queue, in requests, from which queues count as uneven"},
		{Name: "rel", Default: "1.1", Help: "ratio of the longest to the shortest queue above which, besides, queues count as uneven"},
	}
}

// Definition describes the strategy "prefix".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "the longest cached prefix, or the shortest queue when queues are uneven (SGLang cache_aware)",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			p := &prefix{
				threshold: set.Float("threshold", 0, 1),
				abs:       set.Float("abs", 0, 1e9),
				rel:       set.Float("rel", 0, 1e9),
				served:    map[string]uint64{},
			}
			return p, set.Err()
		},
	}
}

type prefix struct {
	threshold, abs, rel float64
	served              map[string]uint64 // requests sent to each worker that is up
}

// Info says what the strategy does and needs.
func (p *prefix) Info() router.Info {
	return router.Info{
		Name: name, Version: version, Routes: true, Cached: true,
		Observes: []router.EventKind{router.Dispatched, router.WorkerGone, router.WorkerRestarted},
	}
}

// Observe counts what workers have served, which breaks ties.
func (p *prefix) Observe(events []router.Event) {
	for _, e := range events {
		switch e.Kind {
		case router.Dispatched:
			p.served[e.Worker.ID]++
		default:
			delete(p.served, e.Worker.ID)
		}
	}
}

// Route decides one request.
func (p *prefix) Route(in router.Input) router.Decision {
	w := in.Workers
	shortest := rank.Best(len(w), func(a, b int) bool {
		if w[a].Load.InFlight != w[b].Load.InFlight {
			return w[a].Load.InFlight < w[b].Load.InFlight
		}
		return p.served[w[a].ID] < p.served[w[b].ID]
	})
	low, high := w[shortest[0].Worker].Load.InFlight, 0
	for i := range w {
		high = max(high, w[i].Load.InFlight)
	}
	if float64(high-low) > p.abs && float64(high) > p.rel*float64(low) {
		return rank.Route("uneven", shortest)
	}
	longest := 0
	for i, cached := range in.Cached {
		if cached > in.Cached[longest] || cached == in.Cached[longest] && w[i].Load.InFlight < w[longest].Load.InFlight {
			longest = i
		}
	}
	if float64(in.Cached[longest]) > p.threshold*float64(in.Request.PromptTokens) {
		return rank.Route("prefix", rank.First(longest, shortest))
	}
	return rank.Route("queue", shortest)
}
