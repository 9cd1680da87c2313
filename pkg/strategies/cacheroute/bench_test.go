package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// sigma is the spread of a lognormal population of rates that fits the three
// statistics the paper publishes (Gini 0.756, 47 % of requests in the top 4 %,
// largest key below 0.3 %).
const sigma = 1.65

// population draws n keys whose rates add up to total requests per second.
func population(n int, total float64, seed uint64) []router.KeyRate {
	rng := rand.New(rand.NewPCG(seed, 1))
	rates, sum := make([]router.KeyRate, n), 0.0
	for i := range rates {
		rates[i] = router.KeyRate{Key: uint64(i), Rate: math.Exp(sigma * rng.NormFloat64()), Tokens: 200 + 2000*rng.Float64()}
		sum += rates[i].Rate
	}
	for i := range rates {
		rates[i].Rate *= total / sum
	}
	return rates
}

// drift lets each rate take one step of a lognormal random walk.
func drift(rates []router.KeyRate, step float64, seed uint64) []router.KeyRate {
	rng := rand.New(rand.NewPCG(seed, 2))
	next := make([]router.KeyRate, len(rates))
	for i, r := range rates {
		next[i] = r
		next[i].Rate *= math.Exp(step * rng.NormFloat64())
	}
	return next
}

func names(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("worker-%04d", i)
	}
	return ids
}

// BenchmarkPlan measures whole placements: "paper" and "first" are made afresh,
// "again" carries on after a step of drift, "joined" after a worker joined. "twin"
// is paper in its literal form, and "reference" sorting the rates, as a library
// does it, and nothing else.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ keys, workers int }{{128_824, 30}, {1_000_000, 1024}} {
		once(b, size.keys, size.workers)
		rates := population(size.keys, 160, 1)
		moved := drift(rates, 0.3, 2)
		paper := Paper{Workers: size.workers, QCap: 160 / float64(size.workers), Slots: float64(size.keys / size.workers)}
		planned := Planned{IDs: names(size.workers), QCap: paper.QCap * 0.6, Near: DefaultNear, Bound: DefaultBound}
		fewer := planned
		fewer.IDs = planned.IDs[:size.workers-1]
		for _, run := range []struct {
			name  string
			place func(previous *router.Table) (Placement, error)
			first *Planned
		}{
			{"paper", func(*router.Table) (Placement, error) { return paper.Place(rates) }, nil},
			{"first", func(*router.Table) (Placement, error) { return planned.Place(rates, nil) }, nil},
			{"again", func(t *router.Table) (Placement, error) { return planned.Place(moved, t) }, &planned},
			{"joined", func(t *router.Table) (Placement, error) { return planned.Place(rates, t) }, &fewer},
		} {
			b.Run(fmt.Sprintf("%s/keys=%d/workers=%d", run.name, size.keys, size.workers), func(b *testing.B) {
				var previous router.Table
				if run.first != nil {
					placed, err := run.first.Place(rates, nil)
					if err != nil {
						b.Fatal(err)
					}
					previous = placed.Table
				}
				b.ReportAllocs()
				var placed Placement
				for b.Loop() {
					var err error
					if placed, err = run.place(&previous); err != nil {
						b.Fatal(err)
					}
				}
				_, churn := Churn(&previous, &placed.Table)
				b.ReportMetric(placed.Imbalance(), "imbalance")
				b.ReportMetric(churn, "churn")
			})
		}
	}
}

// once measures what the placements are measured by.
func once(b *testing.B, keys, workers int) {
	rates := population(keys, 160, 1)
	if keys < 500_000 { // the twin takes minutes for more
		b.Run(fmt.Sprintf("twin/keys=%d/workers=%d", keys, workers), func(b *testing.B) {
			for b.Loop() {
				paperTwin(Paper{Workers: workers, QCap: 160 / float64(workers), Slots: float64(keys / workers)}, rates)
			}
		})
	}
	b.Run(fmt.Sprintf("reference/keys=%d/workers=%d", keys, workers), func(b *testing.B) {
		for b.Loop() {
			slices.SortFunc(slices.Clone(rates), func(x, y router.KeyRate) int { return cmp.Compare(y.Rate, x.Rate) })
		}
	})
}

// BenchmarkOrder measures the sort alone.
func BenchmarkOrder(b *testing.B) {
	rates := population(128_824, 160, 1)
	for b.Loop() {
		byRate(rates)
	}
}

// BenchmarkDivide measures a divided placement that carries on after a step of
// drift, of caches that hold a fifth of the keys.
func BenchmarkDivide(b *testing.B) {
	for _, size := range []struct{ keys, workers int }{{128_824, 30}, {1_000_000, 1024}} {
		once(b, size.keys, size.workers)
		b.Run(fmt.Sprintf("keys=%d/workers=%d", size.keys, size.workers), func(b *testing.B) {
			rates := population(size.keys, float64(size.keys), 1)
			rates[0].Rate = 2 * float64(size.keys) / float64(size.workers)
			p := Planned{
				IDs: names(size.workers), QCap: float64(size.keys), Near: DefaultNear, Bound: DefaultBound,
				Budget: slices.Repeat([]float64{240 * float64(size.keys/size.workers)}, size.workers), HalfLife: 60, Everywhere: DefaultEverywhere,
			}
			placed, zones, err := p.Divide(rates, nil, nil)
			if err != nil || len(zones.Cold) == 0 {
				b.Fatalf("not divided: %+v, %v", zones, err)
			}
			p.Cold, rates = zones.Cold, drift(rates, 0.3, 2)
			b.ReportAllocs()
			for b.Loop() {
				if _, zones, err = p.Divide(rates, &placed.Table, &placed.Table); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(zones.Cold)), "cold")
		})
	}
}
