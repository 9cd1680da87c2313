// Package asker is a strategy that is asked for each request and remembers what
// it observed, so that every call and every event shows in its decisions.
package asker

import "gatewayd/pkg/router"

// Definition describes the strategy "asker".
func Definition() router.Definition {
	return router.Definition{
		Name: "asker", Version: "1.0.0", Summary: "a worker drawn from all that was seen so far",
		New: func(_ router.Options, seed uint64) (router.Instance, error) { return &asker{seen: seed}, nil },
	}
}

type asker struct{ seen uint64 }

// Info asks for routes, all kinds of events about requests, and the prefix index.
func (a *asker) Info() router.Info {
	return router.Info{
		Name: "asker", Version: "1.0.0", Routes: true, Cached: true, Blocks: true,
		Observes: []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished},
	}
}

// Observe folds events into what was seen.
func (a *asker) Observe(events []router.Event) {
	for _, e := range events {
		a.seen = router.Mix(a.seen ^ e.Number ^ uint64(e.Kind)<<32 ^ uint64(e.At) ^ uint64(e.Usage.OutputTokens))
	}
}

// Route draws a worker, now and then waits or passes.
func (a *asker) Route(in router.Input) router.Decision {
	a.seen = router.Mix(a.seen ^ in.Seed ^ uint64(in.Now) ^ in.Fleet)
	for i, w := range in.Workers {
		a.seen = router.Mix(a.seen ^ uint64(w.Load.InFlight) ^ uint64(in.Cached[i])<<20)
	}
	switch a.seen % 16 {
	case 0:
		return router.Decision{}
	case 1:
		return router.Decision{Verdict: router.Wait}
	}
	return router.Decision{
		Verdict: router.Route, Reason: "drawn",
		Ranking: []router.Placement{{Worker: int(a.seen >> 8 % uint64(len(in.Workers)))}},
	}
}
