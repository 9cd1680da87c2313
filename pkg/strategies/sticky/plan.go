package sticky

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/row"
)

// missedWeight is what a token that a worker had to compute lately weighs against
// one that it has to keep: work cannot be moved afterwards, a key whose cache is
// gone can.
const missedWeight = 4

// queuedWeight is what a token that waits for its prefill at a worker weighs
// against one that the worker has to keep: a cache saves later work, a queue is
// waited in now.
const queuedWeight = 1000

// config is what an instance was told; immutable.
type config struct {
	guard  router.Guard
	bind   router.Bind
	home   string  // auto, own or next
	spread float64 // multiple of the mean
}

// read makes a config of options.
func read(set *option.Set) config {
	c := config{
		guard: set.Guard(),
		bind: router.Bind{
			TTL:       set.Duration("ttl", time.Second, forever),
			Keep:      set.Word("escape") == "soft",
			MinCached: set.Float("mincached", 0, 1),
		},
		home:   set.Word("home"),
		spread: set.Float("spread", 1, 1000),
	}
	switch {
	case set.Word("mode") == "seed":
		return config{bind: router.Bind{TTL: forever}, home: "next"}
	case set.Word("escape") == "off":
		c.guard = router.Guard{}
	}
	return c
}

// cached reports whether the core's prefix index is needed.
func (c config) cached() bool { return c.bind.MinCached > 0 || c.home != "next" }

// plan binds keys, and says where new ones go unless that is for the next
// strategy: down the key's rendezvous order past workers that have more than
// their part of what is to be cached, of what was computed lately and of what waits
// now. A key that its worker has forgotten goes where the least is to be cached
// and waits.
func (c config) plan(in router.PlanInput) (router.Plan, error) {
	p := router.Plan{Guard: c.guard, Bind: c.bind}
	if c.home == "own" || c.home == "auto" && in.Last {
		working, queued := workingSet(in.Fleet.Workers), row.Same(router.QueuedTokens, queuedWeight)
		p.Rest = router.Rest{
			Order: router.ByRendezvous,
			Limit: router.Row{working, row.Same(router.Missed, missedWeight), queued},
			Bound: c.spread,
			Cost:  router.Row{working, queued},
		}
	}
	return p, nil
}

// workingSet weighs the prompts of the keys seen at each worker of late by the
// mean size of a cache over the worker's own, where all sizes are known.
func workingSet(workers []router.Worker) router.Term {
	mean, equal := 0.0, true
	for _, w := range workers {
		mean += float64(w.KVTokens) / float64(len(workers))
		equal = equal && w.KVTokens == workers[0].KVTokens
		if w.KVTokens == 0 {
			return row.Same(router.WorkingSet, 1)
		}
	}
	if equal {
		return row.Same(router.WorkingSet, 1)
	}
	weights := make([]float64, len(workers))
	for i, w := range workers {
		weights[i] = mean / float64(w.KVTokens)
	}
	return row.Each(router.WorkingSet, weights)
}
