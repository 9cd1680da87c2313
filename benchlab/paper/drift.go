package paper

import (
	"context"
	"fmt"

	"gatewayd/benchlab/paper/workload"
)

// drift makes Table 12: what fresh plans move when rates drift.
func (s *study) drift(ctx context.Context) (*Table, error) {
	const active, intervals, walks, step, rate = 128, 6, 4, 0.3, 160.0
	t := &Table{
		Number: "12", Title: fmt.Sprintf("plans under drift: the %d hottest keys, %d destinations, rates on a random walk of sigma %g", active, Workers, step),
		Setup: []string{fmt.Sprintf("%d walks of %d intervals a seed, %g QPS; plans know the rates, and that caches serve all of a prompt but its turn; q_cap = %g times the mean load", walks, intervals, rate, headroom)},
		Columns: []Column{
			{Name: "cache churn", Unit: Percent}, {Name: "count churn", Unit: Percent}, {Name: "imbalance", Unit: Times}, {Name: "stale imbalance", Unit: Times},
		},
		Comparable:    "cache churn: 1 - Jaccard of a key's destinations before and after a plan, mean over keys and intervals",
		NotComparable: "count churn, which depends on q_cap; imbalance is that of expected load, each request on the least loaded destination of its key, which the paper does not give: with every plan renewed, and with the first one kept",
	}
	modes := []struct {
		name, mode string
		published  []Published
	}{
		{"CacheRoute, fresh plans", "paper", values(0.945, 0.011)},
		{"ours: mode=planned", "planned", nil},
	}
	for _, m := range modes {
		t.add(m.name, fmt.Sprintf("cacheroute:mode=%s:share=%g", m.mode, headroom), m.published)
	}
	return t, s.fill(ctx, t, func(ctx context.Context, row, seed int) ([]float64, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		w, err := newWalk(t.Rows[row].Chain)
		if err != nil {
			return nil, err
		}
		for n := range uint64(walks) {
			w.first, w.last = nil, nil
			keys := workload.Top(s.populations[seed], active)
			for i := range uint64(intervals + 1) {
				if err := w.step(keys, rate); err != nil {
					return nil, err
				}
				keys = workload.Drift(keys, step, s.seed(seed)<<16|n<<8|i)
			}
		}
		return w.means(), nil
	})
}
