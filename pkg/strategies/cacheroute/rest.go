package cacheroute

import (
	"slices"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/row"
)

// restOf is the rule for keys without a place: on the cold workers if there are
// some, else on all, but only if no other strategy is to decide.
func (c config) restOf(in router.PlanInput, zones Zones) router.Rest {
	r := c.rest
	if r.Order == router.ByCost && r.Cost == nil {
		r.Cost = work(in.PromptTokens, len(zones.Cold) > 0, speeds(in))
	}
	r.Among = zones.Cold
	if c.auto && len(zones.Cold) == 0 && !in.Last {
		return router.Rest{}
	}
	return r
}

// bindOf has sessions held on the worker that served them, while a good part of
// their prompt is still cached there: after that moving costs nothing. Other
// gateways' turns are not in this one's index of prefixes, so with peers the part
// does not count.
func (c config) bindOf(in router.PlanInput, zones Zones) router.Bind {
	if c.paper || !c.auto || !in.Last || len(zones.Cold) > 0 {
		return router.Bind{}
	}
	bind := router.Bind{TTL: idle, MinCached: worthless}
	if slices.ContainsFunc(in.Fleet.Workers, func(w router.Worker) bool { return w.Load.PeersAge > 0 }) {
		bind.MinCached = 0
	}
	return bind
}

const (
	// idle is the time after which a session is taken for ended.
	idle = 5 * time.Minute
	// worthless is the share of a prompt below which its cache is not worth going
	// back for.
	worthless = 0.3
)

// work is what a request costs a worker, in prompt tokens: those it has to
// compute, those that wait there, what each running request slows it down, and a
// little for what its cache is asked to hold. prompt is the mean one, 0 = unknown.
// On cold workers, where nothing is held, load counts less, so that a key goes
// back to where it is cached. What is to be done counts by how fast the worker is,
// nil if all are equal.
func work(prompt float64, divided bool, speed []float64) router.Row {
	slower, weight := 500.0, 1.0
	if prompt > 0 {
		slower = min(slower, prompt/8)
	}
	if divided {
		weight = 0.2
	}
	by := func(f router.Feature, weight float64) router.Term {
		t := row.Same(f, weight)
		if speed != nil {
			t.Weights = make([]float64, len(speed))
			for w, s := range speed {
				t.Weights[w] = weight / s
			}
		}
		return t
	}
	return router.Row{
		by(router.Uncached, 1), by(router.QueuedTokens, weight), by(router.InFlight, weight*slower),
		row.Same(router.WorkingSet, 0.05*weight),
	}
}
