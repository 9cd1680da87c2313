package leastload

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

// Choices describes the strategy "p2c".
func Choices() router.Definition {
	return define(router.Definition{
		Name:    "p2c",
		Summary: "the less loaded of two workers drawn at random",
		Options: []router.Option{
			{Name: "choices", Default: "2", Help: "how many distinct workers to draw"},
			{Name: "load", Default: "in-flight", Values: []string{"in-flight", "queued-tokens", "busyness"}, Help: "the load to compare"},
		},
	}, func(set *option.Set) planner.Func {
		rest := router.Rest{Order: router.ByCost, Sample: set.Int("choices", 1, router.MaxPlanWorkers)}
		switch set.Word("load") {
		case "queued-tokens":
			rest.Cost = router.Row{row.Same(router.QueuedTokens, 1)}
		case "busyness":
			rest.Cost = row.Busyness(1)
		default:
			rest.Cost = row.InFlight()
		}
		return always(rest)
	})
}
