package paper

import (
	"context"
	"fmt"

	"gatewayd/benchlab/paper/workload"
)

// activeSets makes Table 3.
func (s *study) activeSets(ctx context.Context) (*Table, error) {
	bed, err := small(s.Fitted)
	if err != nil {
		return nil, err
	}
	t := &Table{
		Number: "3", Title: fmt.Sprintf("8B, capacity at 3.5 s by the number of active keys, %d destinations", Workers), ladder: bed.ladder,
		Setup:         s.assumed(bed),
		Comparable:    "how capacities go with the number of keys, and their order",
		NotComparable: "QPS: how fast the engine is was taken from the capacity of Flat-LB in Table 4; the published ladder ends at 500",
	}
	all, used := activeSizes, s.sizes()
	for _, k := range used {
		t.Columns = append(t.Columns, capacities(fmt.Sprintf("K=%d", all[k]), bed))
	}
	published := map[string][]Published{}
	for name, row := range publishedSets() {
		for _, k := range used {
			published[name] = append(published[name], row[k])
		}
	}
	policies := t.policies(six(), published)
	return t, s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		var out []float64
		for _, k := range used {
			keys := workload.Top(s.populations[seed], all[k])
			c, err := s.scene(bed, Workers, keys, poisson, s.seed(seed)).climb(ctx, policies[row], 0, slo)
			if err != nil {
				return nil, err
			}
			out = append(out, c.capacity(slo))
		}
		return out, nil
	})
}

// activeSizes are the published numbers of active keys.
var activeSizes = [...]int{16, 32, 64, 128, 256, 2000}

// sizes are the places in activeSizes of those that are run.
func (s *study) sizes() []int {
	if s.Quick {
		return []int{0, 3, 5}
	}
	return []int{0, 1, 2, 3, 4, 5}
}
