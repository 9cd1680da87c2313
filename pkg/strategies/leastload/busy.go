package leastload

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

// LeastBusy describes the strategy "least-busy".
func LeastBusy() router.Definition {
	return define(router.Definition{
		Name:    "least-busy",
		Summary: "least busyness: 4 * requests in flight + 0.1 * queued prompt tokens",
		Options: []router.Option{seed("seed: the first of equally busy workers, as in eoc-distributed; spread: any of them")},
	}, func(set *option.Set) planner.Func {
		return always(router.Rest{Order: router.ByCost, Cost: row.Busyness(1), FirstTie: set.Word("mode") == "seed"})
	})
}
