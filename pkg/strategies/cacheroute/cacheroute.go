package cacheroute

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

const (
	name    = "cacheroute"
	version = "1.0.0"
)

func options() []router.Option {
	return []router.Option{
		{Name: "mode", Default: "planned", Values: []string{"planned", "paper"},
			Help: "carry on from the plan before, or Algorithm 1 of the paper afresh each time"},
		{Name: "qcap", Default: "0", Help: "requests per second of one key that a worker should carry; 0 = the larger of share times the mean load of a worker and slack by the observed latency"},
		{Name: "share", Default: "0.6", Help: "derived qcap as a share of the mean load of a worker"},
		{Name: "slots", Default: "0", Help: "prefixes that a worker's cache holds; 0 = derive from its KV tokens"},
		{Name: "fill", Default: "0", Help: "share of a worker's KV tokens to plan for; 0 = as is measured of answers and ends of prompts (0.7 while nothing is, and in paper mode)"},
		{Name: "charge", Default: "capped", Values: []string{"capped", "uncapped"},
			Help: "slots charged for a key with more copies than workers (paper mode)"},
		{Name: "near", Default: "0.05", Help: "share of the mean load by which a new key's rendezvous home may exceed the least loaded worker"},
		{Name: "bound", Default: "1.1", Help: "imbalance above which keys are moved"},
		{Name: "stated", Default: "8", Help: "requests per half-life of the rates from which a key gets a place while workers are not divided"},
		{Name: "stage", Default: "0.2", Help: "share of the traffic whose homes may move with one plan"},
		{Name: "everywhere", Default: "0.5", Help: "rate from which a key lives on every worker of a divided fleet, as a share of the mean load"},
		{Name: "rest", Default: "auto", Values: []string{"auto", "abstain", "cost", "p2c", "chwbl"},
			Help: "keys that are not in the table: least work, left to the next strategy if there is one; always the next strategy; least work; two choices; or rendezvous order under the guard"},
		{Name: "interval", Default: "0s", Help: "time between two plans; 0 = as long as loads hold, a twelfth of the rates' half-life to all of it (paper mode: the host's default)"},
		{Name: "factor", Default: "1.5", Help: "skip a home above this multiple of the mean load; 0 = never"},
		{Name: "slack", Default: "32", Help: "never skip a home with fewer requests in flight than this"},
	}
}

// config is what an instance was told; immutable.
type config struct {
	paper       bool
	qcap, share float64
	slack       float64 // requests in flight
	slots, fill float64
	charge      Charge
	near, bound float64
	everywhere  float64 // share of the mean load
	stage       float64 // share of the traffic
	stated      float64 // requests per half-life
	guard       router.Guard
	rest        router.Rest
	auto        bool // the rest is left to a strategy that follows
	calibrated  bool // the time between two plans follows from the load
}

// Definition describes the strategy "cacheroute".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "plans a home for each hot key from measured rates, balanced and with few moves",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			c := read(set)
			interval := set.Duration("interval", 0, 24*time.Hour)
			c.calibrated = interval == 0
			if err := set.Err(); err != nil {
				return nil, err
			}
			return planner.New(router.Info{Name: name, Version: version, Interval: interval, Rates: true, Cached: c.rest.Order == router.ByCost && c.rest.Sample == 0 && !c.paper}, c.plan), nil
		},
	}
}

func read(set *option.Set) config {
	c := config{
		paper: set.Word("mode") == "paper",
		qcap:  set.Float("qcap", 0, planner.Most),
		share: set.Float("share", 0.01, 1000),
		slots: set.Float("slots", 0, planner.Most),
		fill:  set.Float("fill", 0, 1),
		near:  set.Float("near", 0, 1000),
		bound: set.Float("bound", 1, 1000),

		stage:      set.Float("stage", 0, 1),
		stated:     set.Float("stated", 0, 1e6),
		everywhere: set.Float("everywhere", 0.01, 1000),
		guard:      set.Guard(),
		auto:       set.Word("rest") == "auto",
		rest:       rest(set.Word("rest")),
	}
	if c.paper && c.auto {
		c.rest = router.Rest{}
	}
	c.slack = c.guard.Slack
	if set.Word("charge") == "uncapped" {
		c.charge = Uncapped
	}
	if c.paper && !set.Given("factor") {
		c.guard = router.Guard{} // Algorithm 1 has none
	}
	return c
}

func rest(word string) router.Rest {
	switch word {
	case "auto", "cost":
		return router.Rest{Order: router.ByCost} // the row is made with the plan
	case "p2c":
		return router.Rest{Order: router.ByCost, Sample: 2, Cost: row.InFlight()}
	case "chwbl":
		return router.Rest{Order: router.ByRendezvous}
	default:
		return router.Rest{}
	}
}
