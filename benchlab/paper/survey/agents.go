package survey

import (
	"context"

	"gatewayd/benchlab/study"
	"gatewayd/benchlab/trace"
)

// agents are recorded sessions, so many of them active at a time.
func agents(recording *trace.Trace, active float64) workload {
	return workload{
		columns: []string{"hit", "imbalance"}, best: []int{+1, -1},
		run: func(ctx context.Context, v variant, seed uint64) ([]float64, error) {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			load, err := study.Sessions(recording, study.Load{Active: active, Seed: seed})
			if err != nil {
				return nil, err
			}
			r, err := study.Run(load, study.Fleet{Seed: seed, Signal: v.signal}, v.chain)
			return []float64{r.Hit, r.Imbalance}, err
		},
	}
}
