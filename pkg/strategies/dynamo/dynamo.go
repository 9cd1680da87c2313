// Package dynamo minimises the prefill that a request adds to a worker and the
// blocks that the worker decodes with: the cost of NVIDIA Dynamo's KV router.
//
// Reading order: dynamo.go (options), cost.go (the cost as a row of a plan),
// softmax.go (the form that draws).
package dynamo

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	name    = "dynamo"
	version = "1.0.0"
)

func options() []router.Option {
	return []router.Option{
		{Name: "overlap", Default: "1", Help: "part of the cached prefix that counts as saved"},
		{Name: "prefill", Default: "1", Help: "weight of the blocks to compute against those to decode with"},
		{Name: "requests", Default: "0", Help: "weight of a request in flight, in blocks"},
		{Name: "block", Default: "16", Help: "tokens in a block"},
		{Name: "temperature", Default: "0", Help: "0: the least cost; more: draw a worker, the likelier the less it costs"},
	}
}

// config is what an instance was told; immutable.
type config struct {
	overlap, prefill, requests, block, temperature float64
}

// Definition describes the strategy "dynamo".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "least prefill to compute plus blocks to decode with (NVIDIA Dynamo)",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			c := config{
				overlap:     set.Float("overlap", 0, 1),
				prefill:     set.Float("prefill", 0, 1e6),
				requests:    set.Float("requests", 0, 1e6),
				block:       set.Float("block", 1, 1e6),
				temperature: set.Float("temperature", 0, 1e6),
			}
			if err := set.Err(); err != nil {
				return nil, err
			}
			info := router.Info{Name: name, Version: version, Cached: true}
			if c.temperature > 0 {
				return newSoftmax(info, c), nil
			}
			return planner.New(info, c.plan), nil
		},
	}
}
