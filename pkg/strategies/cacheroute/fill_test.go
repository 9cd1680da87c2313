package cacheroute

import (
	"math"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// TestRoom: caches are filled where nothing is wasted, and hold more prompts where only
// a part of each comes back. What is given counts, and what is unknown is 0.7.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		config                config
		depth, output, prompt float64
		fill, waste           float64
		note                  string
	}{
		{config{}, 1, 0, 1000, 1, 0, "1.000 of a prompt comes back, 0 tokens of a request do not"},
		{config{}, 0.8, 100, 1000, 1.25, 375, "0.800 of a prompt comes back, 300 tokens of a request do not"},
		{config{}, 0, 100, 1000, 0.7, 0, "0.7 of the KV cache"},
		{config{fill: 0.9}, 0.8, 100, 1000, 0.9, 0, "0.9 of the KV cache"},
	} {
		fill, waste, note := c.config.room(router.PlanInput{Depth: c.depth, OutputTokens: c.output, PromptTokens: c.prompt})
		if math.Abs(fill-c.fill) > 1e-9 || math.Abs(waste-c.waste) > 1e-9 || note != c.note {
			t.Errorf("depth %v: %v, %v, %q; want %v, %v, %q", c.depth, fill, waste, note, c.fill, c.waste, c.note)
		}
	}
}

// TestFilled: the more requests waste, the fewer keys have the caches without cold
// traffic to themselves, and the keys that have leave the ballast its part of each
// worker's load.
func TestFilled(t *testing.T) {
	p := Planned{
		IDs: names(8), QCap: 1e9, Near: DefaultNear, Bound: DefaultBound, HalfLife: 1e6, Everywhere: DefaultEverywhere,
		Budget: slices.Repeat([]float64{4000}, 8),
	}
	rates := make([]router.KeyRate, 2000)
	for i := range rates {
		rates[i] = router.KeyRate{Key: uint64(i), Rate: math.Pow(float64(i+1), -1.1), Tokens: 100}
	}
	last := 2.0
	for _, waste := range []float64{0, 5, 20} {
		p.Waste = waste
		s := newSplitter(p, rates, &router.Table{})
		d, _ := s.best(0, p.coldest(&router.Table{}))
		t.Logf("waste %v: fill %.2f, %d cold workers, %.3f cached", waste, d.fill, d.cold, d.hit)
		if d.fill >= last || waste == 0 && d.fill != 1 || d.fill <= 0 {
			t.Errorf("waste %v: fill %v, and %v with less", waste, d.fill, last)
		}
		last = d.fill
		placed, zones, err := p.Divide(rates, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		load, total := make([]float64, 8), 0.0
		for _, r := range rates {
			total += r.Rate
			if homes := Homes(&placed.Table, r.Key); len(homes) == 1 && !slices.Contains(zones.Cold, homes[0]) {
				load[homes[0]] += r.Rate
			}
		}
		if most := slices.Max(load) * 8 / total; most > 1/p.Bound+1e-9 {
			t.Errorf("waste %v: keys alone load a worker with %.3f of the mean, want at most %.3f", waste, most, 1/p.Bound)
		}
	}
}
