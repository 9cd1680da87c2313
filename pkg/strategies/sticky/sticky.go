// Package sticky keeps each key on the worker that served it last.
package sticky

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	name    = "sticky"
	version = "1.0.0"
	// forever stands for "no time limit": holds are also bounded in number.
	forever = 10 * 365 * 24 * time.Hour
)

func options() []router.Option {
	return append([]router.Option{
		{Name: "mode", Default: "bounded", Values: []string{"bounded", "seed"},
			Help: "seed: bound for good and without regard to load, as in eoc-distributed; the other options have no effect"},
		{Name: "ttl", Default: "300s", Help: "idle time after which a key is free again"},
		{Name: "escape", Default: "hard", Values: []string{"off", "soft", "hard"},
			Help: "when the key's worker is above the guard: stay, go elsewhere and come back, or move for good"},
		{Name: "mincached", Default: "0", Help: "end a hold when less than this share of the prompt is cached at its worker; 0 = never"},
	}, option.Guards()...)
}

// Definition describes the strategy "sticky".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "the worker that served the key last; new keys are left to the next strategy",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			plan := read(set)
			if err := set.Err(); err != nil {
				return nil, err
			}
			info := router.Info{Name: name, Version: version, Cached: plan.Bind.MinCached > 0}
			return planner.New(info, func(router.PlanInput) (router.Plan, error) { return plan, nil }), nil
		},
	}
}

// read makes the one plan of an instance from its options.
func read(set *option.Set) router.Plan {
	guard := set.Guard()
	bind := router.Bind{
		TTL:       set.Duration("ttl", time.Second, forever),
		Keep:      set.Word("escape") == "soft",
		MinCached: set.Float("mincached", 0, 1),
	}
	switch {
	case set.Word("mode") == "seed":
		return router.Plan{Bind: router.Bind{TTL: forever}}
	case set.Word("escape") == "off":
		guard = router.Guard{}
	}
	return router.Plan{Guard: guard, Bind: bind}
}
