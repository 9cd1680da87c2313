// Package leastload has the strategies that look at load only: least-busy, p2c
// and latency.
//
// Reading order: leastload.go, busy.go, choices.go, latency.go.
package leastload

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
)

const version = "1.0.0"

// define completes a definition whose instances only plan.
func define(d router.Definition, read func(*option.Set) planner.Func) router.Definition {
	d.Version = version
	d.New = func(o router.Options, _ uint64) (router.Instance, error) {
		set := option.Parse(d.Options, o)
		plan := read(set)
		if err := set.Err(); err != nil {
			return nil, err
		}
		return planner.New(router.Info{Name: d.Name, Version: version}, plan), nil
	}
	return d
}

// always plans the same rest.
func always(rest router.Rest) planner.Func {
	return func(router.PlanInput) (router.Plan, error) { return router.Plan{Rest: rest}, nil }
}

// seed is the option that selects the form of the seed.
func seed(help string) router.Option {
	return router.Option{Name: "mode", Default: "spread", Values: []string{"spread", "seed"}, Help: help}
}
