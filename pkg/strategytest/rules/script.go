package rules

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gatewayd/pkg/router"
)

const (
	scriptSteps = 120 // calls of one script
	planEvery   = 10  // one of so many calls is for a plan
	start       = router.Time(1_000_000 * time.Hour)
)

// step is one call: either a route or a plan.
type step struct {
	route *router.Input
	plan  *router.PlanInput
}

// script draws the calls that an instance with this info may get. Without ties
// no two workers are alike in any figure.
func script(info router.Info, steps int, ties bool) []step {
	d := &drawer{rng: rand.New(rand.NewPCG(seed, 2)), info: info, ties: ties, now: start}
	var out []step
	for i := range steps {
		d.now = d.now.Add(time.Duration(1 + d.rng.Int64N(int64(3*time.Second))))
		switch {
		case info.Plans && (i%planEvery == 0 || !info.Routes && i%4 == 0):
			in := d.planInput(1 + d.rng.IntN(8))
			out = append(out, step{plan: &in})
		case info.Routes:
			in := d.input(1 + d.rng.IntN(8))
			out = append(out, step{route: &in})
		}
	}
	return out
}

// drawer draws inputs.
type drawer struct {
	rng  *rand.Rand
	info router.Info
	ties bool
	now  router.Time
	sent int
}

func (d *drawer) input(workers int) router.Input {
	d.sent++
	in := router.Input{Now: d.now, Seed: d.rng.Uint64(), Fleet: uint64(d.sent), Request: d.request()}
	in.Workers = d.workers(workers)
	if d.info.Cached {
		cached := d.distinct(workers)
		for _, c := range cached {
			in.Cached = append(in.Cached, c*in.Request.PromptTokens/(8*workers))
		}
	}
	for _, family := range d.info.Facts {
		if d.rng.IntN(3) == 0 {
			in.Facts = append(in.Facts, router.Fact{
				FactKey: router.FactKey{Family: family, Key: in.Request.Key},
				Value:   fmt.Appendf(nil, "%x", d.rng.Uint64()),
			})
		}
	}
	return in
}

func (d *drawer) request() router.Request {
	r := router.Request{
		ID: fmt.Sprintf("request-%d", d.sent), Model: "m", Tenant: fmt.Sprintf("tenant-%d", d.rng.IntN(3)),
		Key: router.Mix(d.rng.Uint64N(30)), PromptTokens: 64 + d.rng.IntN(8000), MaxTokens: d.rng.IntN(3) * 200,
		Priority: d.rng.IntN(3) - 1, BlockTokens: 16,
	}
	if d.rng.IntN(10) == 0 {
		r.Key = 0
	}
	if d.rng.IntN(4) == 0 {
		r.Adapter = "adapter"
	}
	if d.info.Blocks {
		for i := range r.PromptTokens / r.BlockTokens {
			r.Blocks = append(r.Blocks, router.Mix(r.Key^uint64(i)))
		}
	}
	return r
}

// distinct draws figures for n workers: now and then equal ones if ties may be.
func (d *drawer) distinct(n int) []int {
	figures := d.rng.Perm(8 * n)[:n]
	if d.ties && d.rng.IntN(3) == 0 {
		for i := range figures {
			figures[i] = figures[0]
		}
	}
	return figures
}

func (d *drawer) workers(n int) []router.Worker {
	f := make([][]int, 12)
	for i := range f {
		f[i] = d.distinct(n)
	}
	ws := make([]router.Worker, n)
	for i := range ws {
		gauge := func(figure int, unit float64) router.Gauge {
			return router.Gauge{Value: float64(f[figure][i]) * unit, At: d.now.Add(-time.Duration(f[figure][i]) * time.Millisecond)}
		}
		share := 1 / float64(8*n)
		ws[i] = router.Worker{
			ID: fmt.Sprintf("w%02d", i), Incarnation: 1, Zone: fmt.Sprintf("zone-%d", i%2),
			Concurrency: 1000 + f[0][i], KVTokens: 100_000 + 1000*f[1][i],
			Energy: router.Energy{
				PrefillJoules: 0.1 + float64(f[2][i])/100, DecodeJoules: 1 + float64(f[3][i])/10,
				SharedJoules: 10 + float64(f[2][i]), WakeWatts: 100 + float64(f[3][i]), PUE: 1.1 + float64(f[2][i])/100,
			},
			Carbon: router.Carbon{GramsPerKWh: gauge(4, 10), Source: "script"},
			Load: router.Load{
				InFlight: f[5][i], QueuedTokens: 100 * f[6][i], WorkingSet: 50 * f[7][i],
				Running: gauge(5, 1), Waiting: gauge(8, 1), KVUsed: gauge(9, share), TTFT: gauge(10, 0.01), Latency: gauge(11, 0.1),
			},
		}
	}
	return ws
}

func (d *drawer) planInput(workers int) router.PlanInput {
	d.sent++
	in := router.PlanInput{
		Now: d.now, Seed: d.rng.Uint64(), Pool: "pool", Fleet: router.Fleet{Number: uint64(d.sent), Workers: d.workers(workers)},
		TotalRate: 10 + 100*d.rng.Float64(), OutputTokens: 200, PromptTokens: 2000, Depth: 0.9, HalfLife: time.Minute,
		Reuse: router.Reuse{By: router.ByUsage, Share: d.rng.Float64()}, Last: d.rng.IntN(2) == 0,
	}
	if d.info.Rates {
		for key := range uint64(40) {
			if d.rng.IntN(4) > 0 {
				in.Rates = append(in.Rates, router.KeyRate{
					Key: 1 + key*1000, Rate: 20 * d.rng.ExpFloat64() / float64(1+key), Tokens: 500 + 4000*d.rng.Float64(), Home: d.rng.IntN(workers + 1),
				})
			}
		}
	}
	return in
}
