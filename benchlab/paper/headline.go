package paper

import (
	"context"
	"fmt"
	"math"

	"gatewayd/benchlab/paper/workload"
)

// headline makes Table 1.
func (s *study) headline(ctx context.Context) (*Table, error) {
	bed, err := large(s.Fitted)
	if err != nil {
		return nil, err
	}
	const active, load = 128, 100
	t := &Table{
		Number: "1", Title: fmt.Sprintf("70B, the %d hottest keys, %d destinations", active, Workers), ladder: bed.ladder,
		Setup: append(s.assumed(bed), "KV hit at 100 QPS"),
		Columns: []Column{
			{Name: "KV hit", Unit: Percent}, capacities("cap@3.5s", bed), capacities("cap@5s", bed),
			{Name: "p99 TTFT@100", Unit: Seconds},
		},
		Comparable:    "the order of the policies, and the ratios of capacities within the steps of the ladder",
		NotComparable: "QPS and seconds: the engine is derived, and how slow it is was taken from another table; KV hit rates depend on the assumed prompt and length of a run",
	}
	policies := t.policies(six(), publishedHeadline())
	err = s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		keys := workload.Top(s.populations[seed], active)
		c, err := s.scene(bed, Workers, keys, poisson, s.seed(seed)).climb(ctx, policies[row], load, slo5)
		if err != nil {
			return nil, err
		}
		at := c.at(load)
		return []float64{at.KVHit.Or(math.NaN()), c.capacity(slo), c.capacity(slo5), at.TTFT.P99.Or(math.NaN())}, nil
	})
	if err != nil {
		return nil, err
	}
	ours := t.row(cacheroute.name)
	for _, p := range policies[:len(policies)-1] {
		t.Ratios = append(t.Ratios,
			t.ratio(fmt.Sprintf("CacheRoute over %s at 3.5 s", p.name), ours, t.row(p.name), 1),
			t.ratio(fmt.Sprintf("CacheRoute over %s at 5 s", p.name), ours, t.row(p.name), 2))
	}
	return t, nil
}

// assumed is what tables have in common.
func (s *study) assumed(t testbed) []string {
	return []string{
		"engine: " + t.about,
		fmt.Sprintf("prompts of %d tokens: template %d, context of the key %d, turn %d; answers of %d", prompt.Tokens(),
			prompt.Template*workload.BlockTokens, prompt.Context*workload.BlockTokens, prompt.Turn*workload.BlockTokens, answer),
		fmt.Sprintf("%d requests a run, which takes %.0f s at the last step of the ladder; caches empty at first", s.Requests, float64(s.Requests)/t.ladder[len(t.ladder)-1]),
		fmt.Sprintf("plans know the rates and are made once; q_cap = %g times the mean load", headroom),
	}
}
