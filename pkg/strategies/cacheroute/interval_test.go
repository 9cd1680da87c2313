package cacheroute

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

func TestLasting(t *testing.T) {
	p := Planned{IDs: names(4), HalfLife: 60, Bound: 1.1}
	previous := &router.Plan{Expected: []float64{100, 100, 100, 100}}
	for _, id := range p.IDs {
		previous.Workers = append(previous.Workers, router.WorkerRef{ID: id})
	}
	in := router.PlanInput{Previous: previous, PreviousAge: 10 * time.Second}
	chance := 0.4 // requests per second at which chance does that
	tests := []struct {
		name string
		load []float64
		want time.Duration
	}{
		{"as expected", []float64{100, 100, 100, 100}, 60 * time.Second},
		{"twice the load, as expected", []float64{200, 200, 200, 200}, 60 * time.Second},
		{"far off", []float64{190, 70, 70, 70}, 5 * time.Second},
		{"by 5 % in 10 s", []float64{105e6, 95e6, 105e6, 95e6}, 40 * time.Second},
		{"by 5 %, which chance may do", []float64{chance * 1.05, chance * 0.95, chance * 1.05, chance * 0.95}, 60 * time.Second},
	}
	for _, tt := range tests {
		got := p.lasting(in, Placement{Load: tt.load})
		if (got - tt.want).Abs() > time.Millisecond {
			t.Errorf("%s: next plan after %v, want %v", tt.name, got, tt.want)
		}
	}
	unknown := Placement{Load: tests[0].load}
	for name, in := range map[string]router.PlanInput{
		"no plan before":   {PreviousAge: time.Second},
		"nothing expected": {PreviousAge: time.Second, Previous: &router.Plan{Workers: previous.Workers}},
		"no time passed":   {Previous: previous},
		"another fleet":    {PreviousAge: time.Second, Previous: &router.Plan{Expected: previous.Expected, Workers: append([]router.WorkerRef{{ID: "x"}}, previous.Workers[1:]...)}},
		"no load before":   {PreviousAge: time.Second, Previous: &router.Plan{Expected: make([]float64, 4), Workers: previous.Workers}},
	} {
		if got := p.lasting(in, unknown); got != 0 {
			t.Errorf("%s: next plan after %v", name, got)
		}
	}
}

// TestLastingByChance: estimates of rates that hold are not taken for drift.
func TestLastingByChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const halfLife, rate, seconds, age = 60.0, 2.0, 900, 10
	p := Planned{IDs: names(8), HalfLife: halfLife, Bound: 1.1}
	in := router.PlanInput{Previous: &router.Plan{}, PreviousAge: age * time.Second}
	for _, id := range p.IDs {
		in.Previous.Workers = append(in.Previous.Workers, router.WorkerRef{ID: id})
	}
	counts := make([]float64, len(p.IDs))
	decay, sum, n := math.Exp2(-0.1/halfLife), 0.0, 0
	for i := range seconds * 10 {
		for w := range counts {
			counts[w] *= decay
			if rng.Float64() < rate/10 {
				counts[w]++
			}
		}
		if i%(age*10) != 0 || i < seconds*2 {
			continue
		}
		loads := make([]float64, len(counts))
		for w, c := range counts {
			loads[w] = c * math.Ln2 / halfLife
		}
		if in.Previous.Expected != nil {
			sum, n = sum+p.lasting(in, Placement{Load: loads}).Seconds(), n+1
		}
		in.Previous.Expected = loads
	}
	if mean := sum / float64(n); mean < 40 {
		t.Errorf("plans are made every %.0f s on average of %d, want nearly every %v", mean, n, halfLife)
	}
}
