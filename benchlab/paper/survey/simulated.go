package survey

import (
	"context"
	"fmt"
	"math"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/paper"
	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

const (
	chatProfile, chatWorkers = "llama-3.1-8b-h100", 8
	// chatScale speeds the recorded chat traffic up as benchlab compare does: least
	// busy workers are then at 60 to 70 % of their prefill.
	chatScale = 3.8

	whaleWorkers = paper.Workers
	// whaleRate is what two choices bear at a p99 of TTFT of 3.5 s, and whaleSize the
	// length of the traffic: 75 s.
	whaleRate, whaleSize = 160.0, 12_000
)

func timed(run func(seed uint64) (*trace.Trace, []sim.Worker, error)) workload {
	return workload{
		columns: []string{"hit", "imbalance", "p99 TTFT, s"}, best: []int{+1, -1, -1},
		run: func(ctx context.Context, v variant, seed uint64) ([]float64, error) {
			t, fleet, err := run(seed)
			if err != nil {
				return nil, err
			}
			links, err := chain.Open(v.chain, seed)
			if err != nil {
				return nil, err
			}
			out, err := sim.Run(ctx, sim.Config{
				Trace: t, Workers: fleet, Chain: links, Seed: seed, Options: sim.Options{PlanDelay: planDelay, Signal: v.signal},
			})
			if err != nil {
				return nil, err
			}
			f := measure.Of(out, measure.SLO{TTFT: time.Second, TPOT: time.Second})
			return []float64{f.KVHit.Or(math.NaN()), f.ImbalanceRequests.Or(math.NaN()), f.TTFT.P99.Or(math.NaN())}, nil
		},
	}
}

const planDelay = 50 * time.Millisecond // as benchlab compare has it

// chat is the recording that ships with benchlab.
func chat(recording *trace.Trace, rows int) workload {
	return timed(func(seed uint64) (*trace.Trace, []sim.Worker, error) {
		t := recording.Prepare(trace.Preparation{Seed: seed})
		if rows > 0 {
			t = t.Cut(rows)
		}
		p, err := engine.ProfileByName(chatProfile)
		if err != nil {
			return nil, nil, err
		}
		t, err = t.Scale(chatScale)
		return t, sim.Fleet(chatWorkers, p), err
	})
}

// whales is the traffic of the paper's ablation.
func whales(requests int) workload {
	return timed(func(seed uint64) (*trace.Trace, []sim.Worker, error) {
		t, p, err := paper.Whales(seed, requests, whaleRate)
		if err != nil {
			return nil, nil, fmt.Errorf("whales: %w", err)
		}
		return t, sim.Fleet(whaleWorkers, p), nil
	})
}
