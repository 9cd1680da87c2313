// Package sticky keeps each key on the worker that served it last.
//
// Reading order: sticky.go (definition and options), plan.go (what they mean for
// the core).
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
		{Name: "mincached", Default: "0.3", Help: "end a hold when less than this share of the prompt is cached at its worker; 0 = never"},
		{Name: "home", Default: "auto", Values: []string{"auto", "own", "next"},
			Help: "who chooses a new key's worker: sticky itself, the next strategy, or the next one if there is any"},
		{Name: "spread", Default: "1.15", Help: "a new key skips workers whose working set, missed and waiting work are above this multiple of the mean"},
	}, option.Guards()...)
}

// Definition describes the strategy "sticky".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "the worker that served the key last; a new key goes where it crowds out least, or to the next strategy",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			c := read(set)
			if err := set.Err(); err != nil {
				return nil, err
			}
			info := router.Info{Name: name, Version: version, Cached: c.cached()}
			return planner.New(info, c.plan), nil
		},
	}
}
