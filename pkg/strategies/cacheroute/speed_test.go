package cacheroute

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// observed is a fleet with these latencies in seconds, 0 = unknown.
func observed(rate float64, latencies ...float64) router.PlanInput {
	in := router.PlanInput{TotalRate: rate, HalfLife: time.Minute}
	for i, s := range latencies {
		w := router.Worker{ID: names(i + 1)[i], Load: router.Load{Latency: router.Unknown}}
		if s > 0 {
			w.Load.Latency = router.Gauge{Value: s}
		}
		in.Fleet.Workers = append(in.Fleet.Workers, w)
	}
	return in
}

func TestSpeeds(t *testing.T) {
	tests := []struct {
		name string
		in   router.PlanInput
		want []float64
	}{
		{"half of them half as fast", observed(1e9, 1, 1, 2, 2), []float64{4.0 / 3, 4.0 / 3, 2.0 / 3, 2.0 / 3}},
		{"as chance allows", observed(4/spoken*8/math.Ln2/math.Ln2*4, 1, 1, 2, 2), []float64{1.3, 1.3, 0.7, 0.7}},
		{"bounded", observed(1e9, 1, 1, 1e9), []float64{12.0 / 8.25, 12.0 / 8.25, 0.75 / 8.25}},
		{"by chance", observed(1, 1, 1, 2, 2), nil},
		{"nearly equal", observed(100, 1, 1.05, 0.95, 1), nil},
		{"few requests", observed(0.01, 1, 1, 9), nil},
		{"one known", observed(100, 1, 0, 0), nil},
		{"none known", observed(100, 0, 0, 0), nil},
		{"one unknown counts as the mean", observed(100, 1, 1, 1, 0), nil},
	}
	for _, tt := range tests {
		got := speeds(tt.in)
		near := func(a, b float64) bool { return math.Abs(a-b) < 0.01 }
		if !slices.EqualFunc(got, tt.want, near) {
			t.Errorf("%s: speeds %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSpeedsOfEqualWorkers: chance alone hardly ever makes workers unequal.
func TestSpeedsOfEqualWorkers(t *testing.T) {
	rng, wrong := rand.New(rand.NewPCG(1, 2)), 0
	const rounds, workers, each = 1000, 8, 40
	for range rounds {
		latencies := make([]float64, workers)
		for w := range latencies {
			for range each {
				latencies[w] += rng.ExpFloat64() / each
			}
		}
		if speeds(observed(each*workers/spoken, latencies...)) != nil {
			wrong++
		}
	}
	if wrong > rounds/20 {
		t.Errorf("equal workers were taken for unequal in %d of %d rounds", wrong, rounds)
	}
}

// TestSpeedsAreBelieved for a while: of what a plan took them for, half is left
// after two minutes, and workers that are alike again count as equal.
func TestSpeedsAreBelieved(t *testing.T) {
	in := observed(1e9, 2, 2)
	in.Previous = &router.Plan{Workers: []router.WorkerRef{{ID: in.Fleet.Workers[0].ID}, {ID: "gone"}}, Speeds: []float64{1.6, 0.4}}
	in.PreviousAge = 2 * time.Minute
	got := speeds(in) // 1.6 and, as a new one, 1: of their ratio the root is left
	if ratio := got[0] / got[1]; math.Abs(ratio-math.Sqrt(1.6)) > 0.01 || math.Abs(got[0]+got[1]-2) > 1e-9 {
		t.Errorf("speeds %v, want a ratio of %.2f", got, math.Sqrt(1.6))
	}
	in.TotalRate = 0 // nothing is known any more
	if got := speeds(in); math.Abs(got[0]/got[1]-math.Sqrt(1.6)) > 0.01 {
		t.Errorf("speeds %v without requests", got)
	}
	in.PreviousAge = time.Hour
	if got := speeds(in); got != nil {
		t.Errorf("speeds %v after an hour", got)
	}
	in.Previous.Speeds = []float64{math.Inf(1), math.NaN()}
	if got := speeds(in); got != nil {
		t.Errorf("speeds %v of ones that are no figures", got)
	}
}

// TestPlaceBySpeed: of workers half of which are half as fast, these get half as
// much, with room for keys on each as its cache has; a plan made before that was
// known moves no more than it takes.
func TestPlaceBySpeed(t *testing.T) {
	rates := make([]router.KeyRate, 1000)
	for i := range rates {
		rates[i] = router.KeyRate{Key: uint64(i), Rate: 1 + float64(i%7), Tokens: 10}
	}
	p := Planned{IDs: names(8), QCap: 1e6, Near: DefaultNear, Bound: DefaultBound}
	equal, err := p.Place(rates, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Speed = []float64{1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5}
	for _, previous := range []*router.Table{nil, &equal.Table} {
		placed, err := p.Place(rates, previous)
		if err != nil {
			t.Fatal(err)
		}
		if placed.Imbalance() > DefaultBound {
			t.Errorf("imbalance %.3f of load by speed, want at most %v", placed.Imbalance(), DefaultBound)
		}
		served := make([]float64, len(p.IDs))
		for _, r := range rates {
			served[Homes(&placed.Table, r.Key)[0]] += r.Rate
		}
		for w, load := range p.expected(&placed) {
			if math.Abs(load-served[w]) > 1e-6 {
				t.Errorf("worker %d is to serve %.2f req/s, its keys have %.2f", w, load, served[w])
			}
		}
		if previous != nil {
			if _, churn := Churn(previous, &placed.Table); churn > 0.25 {
				t.Errorf("churn %.3f; a sixth of the load has to move", churn)
			}
		}
	}
	p.Speed[3] = 0
	if _, err := p.Place(rates, nil); err == nil {
		t.Error("a speed of 0 was taken")
	}
	p.Speed = p.Speed[:3]
	if _, err := p.Place(rates, nil); err == nil {
		t.Error("3 speeds of 8 workers were taken")
	}
}

// TestDivideBySpeed: divided workers share the load by their speed too.
func TestDivideBySpeed(t *testing.T) {
	rates := make([]router.KeyRate, 3000)
	for i := range rates {
		rates[i] = router.KeyRate{Key: uint64(i), Rate: 300 * math.Pow(float64(i+1), -1.1), Tokens: 1}
	}
	p := Planned{
		IDs: names(8), QCap: 1e6, Near: DefaultNear, Bound: DefaultBound, HalfLife: 60, Everywhere: DefaultEverywhere,
		Budget: []float64{40, 40, 40, 80, 40, 40, 40, 80}, Speed: []float64{1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5},
	}
	placed, zones, err := p.Divide(rates, nil, nil)
	if err != nil || len(zones.Cold) == 0 {
		t.Fatalf("not divided: %+v, %v", zones, err)
	}
	lawsOfDivision(t, "unequal workers", p, rates, placed, zones)
	if got := placed.Imbalance(); got > 1.02 {
		t.Errorf("imbalance %.3f of load by speed", got)
	}
}

// TestCostBySpeed: work waits twice as long at a worker half as fast, while what a
// cache is asked to hold does not.
func TestCostBySpeed(t *testing.T) {
	equal, unequal := work(1000, false, nil), work(1000, false, []float64{1, 0.5})
	for i, term := range unequal {
		want := []float64{equal[i].Weights[0], 2 * equal[i].Weights[0]}
		if term.Feature == router.WorkingSet {
			want = equal[i].Weights
		}
		if !slices.Equal(term.Weights, want) {
			t.Errorf("%v: weights %v, want %v", term.Feature, term.Weights, want)
		}
	}
}
