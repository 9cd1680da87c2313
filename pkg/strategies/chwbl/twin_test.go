package chwbl

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

// TestLikeTwin sorts the workers for the key and walks down the order.
func TestLikeTwin(t *testing.T) {
	for _, o := range []router.Options{{"slack": "2"}, {"slack": "0", "factor": "1"}, {"factor": "0"}} {
		factor, slack := 1.25, 2.0
		switch {
		case o["factor"] == "1":
			factor, slack = 1, 0
		case o["factor"] == "0":
			factor = 0
		}
		script.Twin(t, Definition(), o, func(s script.Seen) []string {
			total := 0.0
			for _, m := range s.Up {
				total += float64(m.Load.InFlight)
			}
			key := s.Request.Key
			if key == 0 {
				key = s.Seed
			}
			order := slices.Clone(s.Workers)
			slices.SortFunc(order, func(a, b router.Worker) int {
				if router.Rendezvous(key, router.HashID(a.ID)) > router.Rendezvous(key, router.HashID(b.ID)) {
					return -1
				}
				return 1
			})
			for _, w := range order {
				if factor == 0 || float64(w.Load.InFlight)+1 <= max(slack, factor*(total+1)/float64(len(s.Up))) {
					return []string{w.ID}
				}
			}
			return []string{order[0].ID}
		})
	}
}
