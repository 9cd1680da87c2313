// Package lmetric weighs the prefill a request would cause against the batch it
// would join.
package lmetric

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

const (
	name    = "lmetric"
	version = "1.0.0"
)

// Definition describes the strategy "lmetric".
func Definition() router.Definition {
	options := []router.Option{{Name: "ties", Default: "spread", Values: []string{"spread", "first"},
		Help: "among equal workers: spread requests, or take the first worker"}}
	return router.Definition{
		Name: name, Version: version,
		Summary: "least new prefill tokens times batch size (LMetric, OSDI 2026)",
		Options: options,
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options, o)
			rest := router.Rest{
				Order:    router.ByCost,
				Cost:     router.Row{row.Same(router.UncachedByBatch, 1)},
				FirstTie: set.Word("ties") == "first",
			}
			if err := set.Err(); err != nil {
				return nil, err
			}
			return planner.New(router.Info{Name: name, Version: version, Cached: true}, func(router.PlanInput) (router.Plan, error) {
				return router.Plan{Rest: rest}, nil
			}), nil
		},
	}
}
