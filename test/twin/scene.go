// Command twin runs the same traffic through the simulator and through a real
// gateway with emulated workers, and compares what both measure. docs/twin.md says
// what it found.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// scene is what both twins run: traffic and a fleet, in the engine's own time.
type scene struct {
	trace   *trace.Trace
	profile engine.Profile
	workers int
	// dilation is how many seconds the gateway sees pass while the engines and the
	// traffic see one. Both twins run in the gateway's time, so that its intervals
	// mean the same to both.
	dilation float64
	timing   replay.Timing
	seed     uint64
	plan     time.Duration // from a plan's input to its being in force
}

// model is what the workers serve.
const model = "llama-3.1-8b"

// dilated returns the traffic in the gateway's time.
func (s scene) dilated() (*trace.Trace, error) { return s.trace.Scale(1 / s.dilation) }

// slowed is the profile in the gateway's time: every step takes longer.
func (s scene) slowed() engine.Profile {
	p := s.profile
	for _, ms := range []*float64{&p.WeightsMS, &p.TokenUS, &p.DecodeMS, &p.DecodeSeqMS, &p.DecodeKctxMS, &p.QuadUS} {
		*ms *= s.dilation
	}
	for _, ms := range []*engine.Figure{&p.OverheadMS, &p.OverheadSeqMS} {
		if v, known := ms.Value(); known {
			*ms = engine.Known(v * s.dilation)
		}
	}
	return p
}

// fleet is the workers as the simulator has them; the real ones get the same IDs.
func (s scene) fleet() []sim.Worker { return sim.Fleet(s.workers, s.slowed()) }

// coreSeed seeds the gateway's core in both twins alike.
func (s scene) coreSeed() uint64 { return router.Mix(s.seed ^ router.HashID("core")) }

// simulate runs the traffic through the simulator. Times come back in the
// engine's own.
func (s scene) simulate(ctx context.Context, chain string) (*measure.Run, error) {
	t, err := s.dilated()
	if err == nil {
		t, err = finer(keyed(t))
	}
	if err != nil {
		return nil, err
	}
	links, err := s.links(chain)
	if err != nil {
		return nil, err
	}
	options := sim.Options{PlanDelay: s.plan}
	if s.timing == replay.Sessions {
		options.Timing = sim.Sessions
	}
	run, err := sim.Run(ctx, sim.Config{
		Trace: t, Workers: s.fleet(), Chain: links, Seed: s.seed, Options: options,
	})
	if err != nil {
		return nil, fmt.Errorf("simulate %s: %w", chain, err)
	}
	for i := range run.Requests {
		r := &run.Requests[i]
		for _, d := range []*time.Duration{&r.Arrived, &r.First, &r.Ended} {
			*d = time.Duration(float64(*d) / s.dilation)
		}
	}
	return run, nil
}

// links opens the strategies of a chain, in this process.
func (s scene) links(chain string) (links []sim.Link, err error) {
	refs, err := ref.ParseChain(chain)
	if err != nil {
		return nil, err
	}
	for i, r := range refs {
		definition, err := strategies.Find(r.Name)
		if err != nil {
			return nil, err
		}
		instance, err := definition.New(router.Options(r.Options), sim.StrategySeed(s.seed, i))
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", r.Name, err)
		}
		links = append(links, sim.Link{Name: definition.Name, Instance: instance})
	}
	return links, nil
}

// names lists a chain's strategies.
func names(chain string) []string { return strings.Split(chain, "+") }
