package paper

import (
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/trace"
)

// Whales is the traffic of the ablation (Table 4) at a rate in requests per second,
// and the engine that serves it there.
func Whales(seed uint64, requests int, rate float64) (*trace.Trace, engine.Profile, error) {
	bed, err := small(false)
	if err != nil {
		return nil, engine.Profile{}, err
	}
	keys := workload.WithWhales(workload.Top(workload.Population(workload.Keys, seed), 128), whales, whaleShare)
	t := workload.Traffic{Keys: keys, Requests: requests, CV: poisson, Prompt: prompt, Output: answer, Seed: seed}
	return t.Draw().At(rate), bed.profile, nil
}
