package paper

import (
	"context"
	"fmt"
	"math"

	"gatewayd/benchlab/paper/workload"
)

// Whales of the ablation. The paper gives neither their number nor their size;
// with one key of 8 % of the requests, for which Eq. 1 gives two copies, hashing
// has the published imbalance of 3.46.
const (
	whales     = 1
	whaleShare = 0.08
)

// ablation makes Table 4.
func (s *study) ablation(ctx context.Context) (*Table, error) {
	bed, err := small(s.Fitted)
	if err != nil {
		return nil, err
	}
	const active, load = 128, 240
	t := &Table{
		Number: "4", Title: fmt.Sprintf("8B, CacheRoute part by part, the %d hottest keys and a whale, %d destinations", active, Workers), ladder: bed.ladder,
		Setup: append(s.assumed(bed), fmt.Sprintf("%d whale with %g %% of the requests; KV hit and imbalance of requests at %d QPS", whales, 100*whaleShare, load)),
		Columns: []Column{
			{Name: "KV hit", Unit: Percent}, {Name: "imbalance", Unit: Times}, capacities("capacity", bed),
		},
		Comparable:    "imbalance, the order of the rows, and what each part changes",
		NotComparable: "the KV hit of Flat-LB, which set the prompt, and its capacity, which set the speed of the engine; the whale was chosen for the imbalance of affinity",
	}
	policies := t.policies([]policy{flat, affinity, replication, balanced}, publishedAblation())
	err = s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		keys := workload.WithWhales(workload.Top(s.populations[seed], active), whales, whaleShare)
		c, err := s.scene(bed, Workers, keys, poisson, s.seed(seed)).climb(ctx, policies[row], load, slo)
		if err != nil {
			return nil, err
		}
		at := c.at(load)
		return []float64{at.KVHit.Or(math.NaN()), at.ImbalanceRequests.Or(math.NaN()), c.capacity(slo)}, nil
	})
	if err != nil {
		return nil, err
	}
	t.Ratios = append(t.Ratios, t.ratio("CacheRoute over Flat-LB at 3.5 s", t.row(balanced.name), t.row(flat.name), 2))
	return t, nil
}
