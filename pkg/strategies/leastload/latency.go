package leastload

import (
	"slices"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

// Latency describes the strategy "latency".
func Latency() router.Definition {
	return define(router.Definition{
		Name:    "latency",
		Summary: "least latency * (1 + in flight / concurrency)",
		Options: []router.Option{
			seed("seed: the least latency alone, the first of equals, as in eoc-distributed"),
			{Name: "tolerance", Default: "0.25", Help: "latencies up to this share above the least one count as equal to it"},
			{Name: "batch", Default: "32", Help: "concurrency of workers that state none"},
		},
	}, func(set *option.Set) planner.Func {
		l := latency{tolerance: set.Float("tolerance", 0, 100), batch: set.Float("batch", 1, 1e6)}
		if set.Word("mode") == "seed" {
			return seedLatency
		}
		return l.plan
	})
}

type latency struct{ tolerance, batch float64 }

func (l latency) plan(in router.PlanInput) (router.Plan, error) {
	workers := in.Fleet.Workers
	seconds, observed := planner.Latencies(workers)
	least := slices.Min(seconds)
	perRequest := make([]float64, len(workers))
	for i, w := range workers {
		switch {
		case observed == 0:
			seconds[i] = 1
		case seconds[i] <= least*(1+l.tolerance):
			seconds[i] = least
		}
		perRequest[i] = seconds[i] / l.batch
		if w.Concurrency > 0 {
			perRequest[i] = seconds[i] / float64(w.Concurrency)
		}
	}
	plan := router.Plan{Rest: router.Rest{
		Order: router.ByCost,
		Cost:  router.Row{row.Each(router.One, seconds), row.Each(router.InFlight, perRequest)},
	}}
	if observed == 0 {
		plan.Note = "no latency observed yet: least in flight per concurrency"
	}
	return plan, nil
}

// seedLatency ranks by the latency alone; one that nobody has seen is 0, as in
// the seed, so a new worker is tried first.
func seedLatency(in router.PlanInput) (router.Plan, error) {
	seconds := make([]float64, len(in.Fleet.Workers))
	for i, w := range in.Fleet.Workers {
		seconds[i], _ = planner.Observed(w.Load.Latency)
	}
	return router.Plan{Rest: router.Rest{
		Order:    router.ByCost,
		Cost:     router.Row{row.Each(router.One, seconds)},
		FirstTie: true,
	}}, nil
}
