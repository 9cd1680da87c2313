// Package energy has the strategies that minimise electricity or its carbon.
//
// Reading order: energy.go (definitions and options), joules.go (what a request
// costs a worker), carbon.go and zones.go (what a joule costs the climate), limit.go (what
// keeps it from herding), seed.go (the form of the seed).
package energy

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

const version = "1.0.0"

// Joule describes the strategy "joule".
func Joule() router.Definition {
	return define("joule", "least marginal energy per request among workers within the latency target")
}

// Carbon describes the strategy "carbon".
func Carbon() router.Definition {
	return define("carbon", "least marginal carbon per request among workers within the latency target")
}

func options(mode string) []router.Option {
	return []router.Option{
		{Name: "mode", Default: mode, Values: []string{"joule", "carbon", "least-busy", "seed"},
			Help: "what to minimise; seed stands for this strategy's own figure in the form of the seed"},
		{Name: "form", Default: "marginal", Values: []string{"marginal", "seed"},
			Help: "marginal energy under a limit, or the reported average without one, as in eoc-distributed"},
		{Name: "ttft", Default: "2s", Help: "target for the time to first token; workers expected to miss it are avoided"},
		{Name: "prefill", Default: "8000", Help: "prompt tokens per second that a worker computes, to predict the time to first token"},
		{Name: "batch", Default: "64", Help: "requests in flight that fill the target on a worker which states no concurrency"},
		{Name: "tpot", Default: "20ms", Help: "time per output token, to predict how long a woken worker runs while no latency is known"},
		{Name: "stale", Default: "2h", Help: "age from which a carbon reading is not used"},
		{Name: "intensity", Default: "auto", Values: []string{"auto", "average", "marginal"},
			Help: "kind of carbon reading to use; auto: average if there is any"},
	}
}

// config is what an instance was told; immutable.
type config struct {
	mode      string  // joule, carbon or least-busy
	ttft      float64 // s
	prefill   float64 // tokens/s
	batch     float64 // requests
	tpot      float64 // s
	stale     time.Duration
	intensity string
}

func define(name, summary string) router.Definition {
	return router.Definition{
		Name: name, Version: version, Summary: summary, Options: options(name),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(name), o)
			c := config{
				mode:      set.Word("mode"),
				ttft:      set.Duration("ttft", time.Millisecond, time.Hour).Seconds(),
				prefill:   set.Float("prefill", 1, 1e9),
				batch:     set.Float("batch", 1, 1e6),
				tpot:      set.Duration("tpot", time.Microsecond, time.Minute).Seconds(),
				stale:     set.Duration("stale", time.Second, 365*24*time.Hour),
				intensity: set.Word("intensity"),
			}
			seed := set.Word("form") == "seed" || c.mode == "seed"
			if c.mode == "seed" {
				c.mode = name
			}
			if err := set.Err(); err != nil {
				return nil, err
			}
			info := router.Info{Name: name, Version: version}
			if seed {
				return planner.New(info, c.seed), nil
			}
			info.Cached = true
			return planner.New(info, c.plan), nil
		},
	}
}

// plan ranks workers by what one more request costs there.
func (c config) plan(in router.PlanInput) (router.Plan, error) {
	rest := router.Rest{Order: router.ByCost, Cost: row.Busyness(1), Limit: c.limit(in.Fleet.Workers), Bound: c.ttft}
	if c.mode == "least-busy" {
		return router.Plan{Rest: rest}, nil
	}
	figures, note := c.figures(in)
	if c.mode == "joule" {
		figures.scale(overheads(in.Fleet.Workers))
	} else {
		grams, said := c.gramsPerJoule(in)
		if figures == nil && !alike(grams) {
			figures = nominal(len(grams))
		}
		figures.scale(grams)
		note = join(note, said)
	}
	if figures != nil {
		rest.Cost = c.cost(figures, in)
	}
	return router.Plan{Rest: rest, Note: note}, nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
