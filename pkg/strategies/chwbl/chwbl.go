// Package chwbl keeps each key on its rendezvous worker, within a bound on load.
package chwbl

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	name    = "chwbl"
	version = "1.0.0"
)

// Definition describes the strategy "chwbl".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "the key's rendezvous worker, or the next one whose load is within a bound",
		Options: option.Guards(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(option.Guards(), o)
			guard := set.Guard()
			if err := set.Err(); err != nil {
				return nil, err
			}
			return planner.New(router.Info{Name: name, Version: version}, func(router.PlanInput) (router.Plan, error) {
				return router.Plan{Guard: guard, Rest: router.Rest{Order: router.ByRendezvous}}, nil
			}), nil
		},
	}
}
