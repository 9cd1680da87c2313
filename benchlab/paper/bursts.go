package paper

import (
	"context"
	"fmt"
	"math"

	"gatewayd/benchlab/paper/workload"
)

const (
	poisson   = 1.0
	burstedCV = 1.9 // published: that of the gaps of production
)

// bursts makes Table 10: the same requests at even and at bursty arrivals.
func (s *study) bursts(ctx context.Context) (*Table, error) {
	bed, err := large(s.Fitted)
	if err != nil {
		return nil, err
	}
	const active, load = 128, 100
	t := &Table{
		Number: "10", Title: fmt.Sprintf("70B, Poisson arrivals and gamma gaps of CV %g, the %d hottest keys", burstedCV, active), ladder: bed.ladder,
		Setup: append(s.assumed(bed), fmt.Sprintf("KV hit at %d QPS", load)),
		Columns: []Column{
			{Name: "KV hit, Poisson", Unit: Percent}, {Name: "KV hit, gamma", Unit: Percent},
			capacities("cap@3.5s, Poisson", bed), capacities("cap@3.5s, gamma", bed),
		},
		Comparable:    "how much bursts cost, in steps of the ladder",
		NotComparable: "QPS and KV hit, as in Table 1; Flat-LB has no published row here",
	}
	policies := t.policies([]policy{flat, cacheroute}, map[string][]Published{
		cacheroute.name: {{0.94, 0}, {0.90, 0}, {180, 0}, {160, 0}},
	})
	return t, s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		var hits, capacities []float64
		for _, cv := range []float64{poisson, burstedCV} {
			keys := workload.Top(s.populations[seed], active)
			c, err := s.scene(bed, Workers, keys, cv, s.seed(seed)).climb(ctx, policies[row], load, slo)
			if err != nil {
				return nil, err
			}
			hits, capacities = append(hits, c.at(load).KVHit.Or(math.NaN())), append(capacities, c.capacity(slo))
		}
		return append(hits, capacities...), nil
	})
}
