package sim

import (
	"context"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

const ms = time.Millisecond

// tenfold is a machine for sums in one's head: a step takes 1 ms for each new
// token, but at least 10 ms, and 100 W.
func tenfold() engine.Profile {
	return engine.Profile{
		Name: "tenfold", WeightsMS: 10, TokenUS: 1000, KVBlocks: 100,
		Power: engine.Power{BaseW: engine.Known(100), RangeW: engine.Known(0), KneeSeqs: engine.Known(1)},
	}
}

// call is a request in blocks of 16 tokens.
func call(at time.Duration, input, output int, session uint64, blocks ...uint64) trace.Request {
	return trace.Request{At: at, Input: input, Output: output, Session: session, Blocks: blocks}
}

func traffic(requests ...trace.Request) *trace.Trace {
	return &trace.Trace{Name: "test", BlockTokens: 16, Requests: requests}
}

func chain(t testing.TB, names ...string) []Link {
	t.Helper()
	links := make([]Link, len(names))
	for i, name := range names {
		d, err := strategies.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := d.New(nil, StrategySeed(1, i))
		if err != nil {
			t.Fatal(err)
		}
		links[i] = Link{name, instance}
	}
	return links
}

func run(t testing.TB, c Config) *measure.Run {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// custom is a strategy made of functions.
type custom struct {
	info    router.Info
	route   func(router.Input) router.Decision
	plan    func(router.PlanInput) (router.Plan, error)
	observe func([]router.Event)
}

func (c *custom) Info() router.Info                             { return c.info }
func (c *custom) Route(in router.Input) router.Decision         { return c.route(in) }
func (c *custom) Plan(in router.PlanInput) (router.Plan, error) { return c.plan(in) }
func (c *custom) Observe(events []router.Event)                 { c.observe(events) }

// only is a chain of one strategy.
func only(c *custom) []Link { return []Link{{"custom", c}} }

// to routes to the worker of a number.
func to(worker int, reason string) router.Decision {
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: worker}}, Reason: reason}
}
