package paper

import (
	"context"
	"fmt"
	"math"

	"gatewayd/benchlab/paper/workload"
)

// fleets makes Table 14: fleets of three sizes at the same loads.
func (s *study) fleets(ctx context.Context) (*Table, error) {
	bed, err := small(s.Fitted)
	if err != nil {
		return nil, err
	}
	const active, load, each = 128, 100, 0.03
	sizes := []struct {
		workers, whales int
		published       []Published
	}{
		{8, 2, nil},
		{30, 8, values(0.14, 0.70, math.NaN(), math.NaN(), 4.44)},
		{60, 16, values(0.24, 0.32, math.NaN(), math.NaN(), 1)},
	}
	t := &Table{
		Number: "14", Title: fmt.Sprintf("8B, size of the fleet at the same loads, the %d hottest keys and whales", active), ladder: bed.ladder,
		Setup: append(s.assumed(bed), fmt.Sprintf("2, 8 and 16 whales, as published, with %g %% of the requests each; KV hit at %d QPS", 100*each, load)),
		Columns: []Column{
			{Name: "KV hit, Flat-LB", Unit: Percent}, {Name: "KV hit, CacheRoute", Unit: Percent},
			capacities("capacity, Flat-LB", bed), capacities("capacity, CacheRoute", bed), {Name: "ratio", Unit: Times},
		},
		Comparable:    "that the advantage goes when the fleet grows and the loads do not; a ratio with the end of the ladder in it is a lower bound",
		NotComparable: "KV hit and ratio themselves: how large whales are, what prompts they have and which loads were run is not published",
	}
	for _, x := range sizes {
		t.add(fmt.Sprintf("R=%d, %d whales", x.workers, x.whales), "", x.published)
		cells := t.Rows[len(t.Rows)-1].Cells
		for k := range cells {
			if p := cells[k].Published; p != nil && math.IsNaN(p.Mean) {
				cells[k].Published = nil
			}
		}
	}
	return t, s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		x := sizes[row]
		keys := workload.WithWhales(workload.Top(s.populations[seed], active), x.whales, each*float64(x.whales))
		scene := s.scene(bed, x.workers, keys, poisson, s.seed(seed))
		a, err := scene.climb(ctx, flat, load, slo)
		if err != nil {
			return nil, err
		}
		b, err := scene.climb(ctx, cacheroute, load, slo)
		if err != nil {
			return nil, err
		}
		ratio := math.NaN()
		if a.capacity(slo) > 0 {
			ratio = b.capacity(slo) / a.capacity(slo)
		}
		return []float64{a.at(load).KVHit.Or(math.NaN()), b.at(load).KVHit.Or(math.NaN()), a.capacity(slo), b.capacity(slo), ratio}, nil
	})
}
