package cacheroute

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

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
// "again" carries on after a step of drift, "joined" after a worker joined,
// "divided" after a step of drift with caches that hold a fifth of the keys, and
// "whole" likewise with caches that hold them all. "twin" is paper as one writes it
// first, and "reference" sorting the rates, as a library does it, and nothing else.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ keys, workers int }{{128_824, 30}, {1_000_000, 1024}} {
		for _, run := range benchPlans(b, size.keys, size.workers) {
			b.Run(fmt.Sprintf("%s/keys=%d/workers=%d", run.name, size.keys, size.workers), func(b *testing.B) {
				place := run.prepare()
				b.ReportAllocs()
				report := onCore(b)
				for b.Loop() {
					if err := place(); err != nil {
						b.Fatal(err)
					}
				}
				report()
			})
		}
	}
}

// benchPlan is a placement to measure, once it is prepared.
type benchPlan struct {
	name    string
	prepare func() (place func() error)
}

func benchPlans(b *testing.B, keys, workers int) []benchPlan {
	rates := population(keys, 160, 1)
	paper := Paper{Workers: workers, QCap: 160 / float64(workers), Slots: float64(keys / workers)}
	planned := Planned{IDs: names(workers), QCap: paper.QCap * 0.6, Near: DefaultNear, Bound: DefaultBound}
	again := func(before Planned, next []router.KeyRate) func() error {
		placed, err := before.Place(rates, nil)
		if err != nil {
			b.Fatal(err)
		}
		return func() error { _, err := planned.Place(next, &placed.Table); return err }
	}
	fewer := planned
	fewer.IDs = planned.IDs[:workers-1]
	return []benchPlan{
		{"paper", func() func() error { return func() error { _, err := paper.Place(rates); return err } }},
		{"first", func() func() error { return func() error { _, err := planned.Place(rates, nil); return err } }},
		{"again", func() func() error { return again(planned, drift(rates, 0.3, 2)) }},
		{"joined", func() func() error { return again(fewer, rates) }},
		{"divided", func() func() error { return benchDivide(b, keys, workers, 240, 0, true) }},
		{"wasted", func() func() error { return benchDivide(b, keys, workers, 240, 50, true) }},
		{"whole", func() func() error { return benchDivide(b, keys, workers, 1e6, 0, false) }},
		{"twin", func() func() error { return func() error { naive(paper, rates); return nil } }},
		{"reference", func() func() error {
			return func() error {
				slices.SortFunc(slices.Clone(rates), func(x, y router.KeyRate) int { return cmp.Compare(y.Rate, x.Rate) })
				return nil
			}
		}},
	}
}

// benchDivide carries on from a plan of caches that hold some tokens for each key, while
// each request wastes some.
func benchDivide(b *testing.B, keys, workers int, tokens, waste float64, divided bool) func() error {
	rates := population(keys, float64(keys), 1)
	rates[0].Rate = 2 * float64(keys) / float64(workers)
	p := Planned{
		IDs: names(workers), QCap: float64(keys), Near: DefaultNear, Bound: DefaultBound,
		Budget: slices.Repeat([]float64{tokens * float64(keys/workers)}, workers), HalfLife: 60, Everywhere: DefaultEverywhere, Waste: waste,
	}
	placed, zones, err := p.Divide(rates, nil, nil)
	if err != nil || len(zones.Cold) > 0 != divided {
		b.Fatalf("divided is to be %v: %+v, %v", divided, zones, err)
	}
	p.Cold, rates = zones.Cold, drift(rates, 0.3, 2)
	return func() error { _, _, err := p.Divide(rates, &placed.Table, &placed.Table); return err }
}

// onCore returns a function that reports what an operation has taken since, in time
// of one core, which the rest of the machine disturbs less than time by the clock.
func onCore(b *testing.B) func() {
	b.Helper()
	spent := func() time.Duration {
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			b.Fatal(err)
		}
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	runtime.GC()
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "core-ns/op") }
}

// naive is a fresh placement as one writes it first: a sorted copy, container/heap
// and a map of lists.
func naive(p Paper, rates []router.KeyRate) map[uint64][]uint16 {
	homes := map[uint64][]uint16{}
	least := make(leastLoaded, p.Workers)
	left := float64(p.Workers) * p.Slots
	for w := range least {
		least[w].worker = uint16(w)
	}
	for _, r := range descending(rates) {
		k := min(copies(r.Rate, p.QCap), float64(p.Workers))
		if k > left {
			continue
		}
		left -= k
		var taken leastLoaded
		for range int(k) {
			taken = append(taken, heap.Pop(&least).(loaded))
		}
		for _, t := range taken {
			homes[r.Key] = append(homes[r.Key], t.worker)
			heap.Push(&least, loaded{t.load + r.Rate/k, t.worker})
		}
	}
	return homes
}

type loaded struct {
	load   float64
	worker uint16
}

type leastLoaded []loaded

func (l leastLoaded) Len() int { return len(l) }
func (l leastLoaded) Less(i, j int) bool {
	return l[i].load < l[j].load || l[i].load == l[j].load && l[i].worker < l[j].worker
}
func (l leastLoaded) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *leastLoaded) Push(x any)   { *l = append(*l, x.(loaded)) }
func (l *leastLoaded) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// TestNaiveIsPaper holds that the twin of the benchmark does the same work.
func TestNaiveIsPaper(t *testing.T) {
	rates := population(5000, 160, 1)
	p := Paper{Workers: 30, QCap: 1, Slots: 1000}
	placed, err := p.Place(rates)
	if err != nil {
		t.Fatal(err)
	}
	homes := naive(p, rates)
	if len(homes) != len(placed.Table.Keys) || len(homes) != len(rates) {
		t.Fatalf("%d keys, want %d", len(homes), len(placed.Table.Keys))
	}
	for i, key := range placed.Table.Keys {
		slices.Sort(homes[key])
		if !slices.Equal(homes[key], placed.Table.Of(i)) {
			t.Errorf("key %d lives on %v, want %v", key, homes[key], placed.Table.Of(i))
		}
	}
}

// BenchmarkOrder measures the sort alone.
func BenchmarkOrder(b *testing.B) {
	rates := population(128_824, 160, 1)
	for b.Loop() {
		byRate(rates, nil)
	}
}
