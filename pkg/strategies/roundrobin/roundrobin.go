// Package roundrobin sends each request to the worker after the one before.
package roundrobin

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	name    = "round-robin"
	version = "1.0.0"
)

func options() []router.Option {
	return []router.Option{{Name: "mode", Default: "pool", Values: []string{"pool", "seed"},
		Help: "pool: one counter per pool; seed: the counter of eoc-distributed, which within a pool counts alike"}}
}

// Definition describes the strategy "round-robin".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "one worker after the other, whatever their load",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			if err := option.Parse(options(), o).Err(); err != nil {
				return nil, err
			}
			return planner.New(router.Info{Name: name, Version: version}, plan), nil
		},
	}
}

func plan(router.PlanInput) (router.Plan, error) {
	return router.Plan{Rest: router.Rest{Order: router.ByRotation}}, nil
}
