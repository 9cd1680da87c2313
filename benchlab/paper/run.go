package paper

import (
	"context"
	"fmt"

	"gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
)

// scene is one seed's traffic on a fleet.
type scene struct {
	testbed testbed
	workers int
	keys    []workload.Key
	stream  *workload.Stream
	seed    uint64
	watch   Progress
	skipped func(runs int) // is told of runs that are not needed
}

// scene draws traffic over some keys.
func (s *study) scene(t testbed, workers int, keys []workload.Key, cv float64, seed uint64) *scene {
	return &scene{
		testbed: t, workers: workers, keys: keys, seed: seed, watch: s.Progress, skipped: func(runs int) { s.expect(-runs) },
		stream: workload.Traffic{Keys: keys, Requests: s.Requests, CV: cv, Prompt: prompt, Output: answer, Seed: seed}.Draw(),
	}
}

// run sends the traffic at a rate through a policy. Caches are empty at first.
func (s *scene) run(ctx context.Context, p policy, rate float64) (measure.Figures, error) {
	run, err := s.simulate(ctx, p, rate)
	if err != nil {
		return measure.Figures{}, fmt.Errorf("%s at %g requests per second: %w", p.name, rate, err)
	}
	return measure.Of(run, measure.SLO{TTFT: slo, TPOT: slo}), nil
}

func (s *scene) simulate(ctx context.Context, p policy, rate float64) (*measure.Run, error) {
	chain, err := p.open(s.keys, rate, s.seed)
	if err != nil {
		return nil, err
	}
	c := sim.Config{Trace: s.stream.At(rate), Workers: sim.Fleet(s.workers, s.testbed.profile), Chain: chain, Seed: s.seed}
	if s.watch != nil {
		c.Options.Progress = s.watch.Part()
	}
	return sim.Run(ctx, c)
}
