package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gatewayd/benchlab/sim/measure"
)

// How often, and by up to how much, arrivals are shifted at random to see how far
// the simulator's own figures move: less than that no two measurements agree.
const (
	shakes = 8
	shift  = 1500 * time.Microsecond
)

// shaken returns the greatest changes of the KV hit and, relative, of the median
// TTFT that small shifts of all arrivals make in the simulator alone.
func (s scene) shaken(ctx context.Context, chain string, plain *measure.Figures) (hit, ttft float64, err error) {
	requests := s.trace.Requests
	for n := range shakes {
		rng := rand.New(rand.NewPCG(s.seed, uint64(n)))
		t := *s.trace
		t.Requests = slices.Clone(requests)
		for i := range t.Requests {
			at := t.Requests[i].At + time.Duration(rng.Int64N(int64(2*shift))) - shift
			if t.Requests[i].At = max(at, 0); i > 0 {
				t.Requests[i].At = max(at, t.Requests[i-1].At)
			}
		}
		s.trace = &t
		run, err := s.simulate(ctx, chain)
		if err != nil {
			return 0, 0, err
		}
		f := measure.Of(run, slo())
		hit = max(hit, math.Abs(f.KVHit.Or(0)-plain.KVHit.Or(0)))
		ttft = max(ttft, math.Abs(f.TTFT.P50.Or(0)/plain.TTFT.P50.Or(1)-1))
	}
	return hit, ttft, nil
}
