package cacheroute

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// TestUndividedLikeSplitter holds that the few keys which are sorted for workers
// that are not divided are the first of all in order, of equal ones as well.
func TestUndividedLikeSplitter(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	some := 0
	for round := range 2000 {
		p := Planned{
			IDs: names(1 + rng.IntN(5)), Budget: []float64{1}, HalfLife: 60, Unkeyed: float64(rng.IntN(2)),
			Everywhere: []float64{0.05, 0.5, 2}[rng.IntN(3)], Tokens: 100,
		}
		rates, kept := make([]router.KeyRate, rng.IntN(30)), router.Table{}
		for i := range rates {
			rates[i] = router.KeyRate{Key: uint64(i), Rate: rng.Float64(), Tokens: float64(rng.IntN(3)) * 70_000}
			if round%2 == 0 {
				rates[i].Rate = float64(rng.IntN(4)) / 4
			}
			switch rng.IntN(4) {
			case 0:
				kept.Append(uint64(i), 0)
			case 1:
				kept.Append(uint64(i), 0, 1)
			}
		}
		s, u := newSplitter(p, rates, &kept), newUndivided(p, rates, &kept)
		s.ballast = min(s.ballast, s.certain())
		if u.ballast != s.ballast || !slices.Equal(u.order[:u.ballast], s.order[:s.ballast]) ||
			!slices.Equal(u.held, s.held[:s.ballast+1]) || math.Abs(u.total-s.total) > 1e-9 || u.budget != s.budget {
			t.Fatalf("round %d: %+v\nhas %d keys everywhere: %v\nwant %d: %v", round, rates, u.ballast, u.order, s.ballast, s.order)
		}
		if u.ballast > 1 {
			some++
		}
	}
	if some < 100 {
		t.Errorf("only %d rounds have several keys everywhere", some)
	}
}
