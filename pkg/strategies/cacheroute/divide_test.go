package cacheroute

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/rendezvous"
)

// dividing runs TestResidency's workload with divided workers; cold keys go by
// rendezvous order.
func dividing(t *testing.T, seed uint64) (hit, imbalance float64, zones Zones) {
	t.Helper()
	ids := names(fleet)
	hashes := rendezvous.Hashes(ids)
	hit, imbalance = run(seed, 2000, func(rates []router.KeyRate, previous *router.Table) Placement {
		total := 0.0
		for _, r := range rates {
			total += r.Rate
		}
		placed, z, err := Planned{
			IDs: ids, QCap: 0.6 * total / fleet, Budget: slices.Repeat([]float64{slotsEach}, fleet), Near: DefaultNear,
			Bound: DefaultBound, HalfLife: 4000, Everywhere: DefaultEverywhere, Cold: zones.Cold,
		}.Divide(rates, previous, previous)
		if err != nil {
			t.Fatal(err)
		}
		zones = z
		return placed
	}, func(c *cluster, key uint64) int {
		if len(zones.Cold) == 0 {
			return c.bounded(key, hashes)
		}
		return int(slices.MaxFunc(zones.Cold, func(a, b uint16) int {
			if router.Rendezvous(key, hashes[a]) < router.Rendezvous(key, hashes[b]) {
				return -1
			}
			return 1
		}))
	})
	return hit, imbalance, zones
}

// TestDividedResidency: a hash hits 0.77 at an imbalance of 2.
func TestDividedResidency(t *testing.T) {
	for seed := range uint64(7) {
		hit, imbalance, zones := dividing(t, seed)
		t.Logf("seed %d: hit %.4f imbalance %.4f, cold workers %v", seed, hit, imbalance, zones.Cold)
		if hit < 0.779 || imbalance > 1.05 {
			t.Errorf("seed %d: hit %.4f imbalance %.4f, want at least 0.779 at most 1.05", seed, hit, imbalance)
		}
	}
}
