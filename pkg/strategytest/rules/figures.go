package rules

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatewayd/pkg/router"
)

// Numbers of calls of each variant, and of those with many workers.
const variantSteps, manySteps = 16, 4

// variant changes every worker, and the rest of an input.
type variant struct {
	name   string
	worker func(now router.Time, w *router.Worker)
	route  func(*router.Input)
	plan   func(*router.PlanInput)
}

// gauges returns all that is observed of a worker.
func gauges(w *router.Worker) []*router.Gauge {
	l := &w.Load
	return []*router.Gauge{&w.Carbon.GramsPerKWh, &l.Running, &l.Waiting, &l.KVUsed, &l.TTFT, &l.Latency}
}

func variants() []variant {
	const hugeTokens, hugeLoad, hugeFigure = 1 << 30, 1 << 31, 1e300
	return []variant{
		{"missing figures", func(_ router.Time, w *router.Worker) {
			*w = router.Worker{ID: w.ID, Load: router.Load{InFlight: w.Load.InFlight}}
			for _, g := range gauges(w) {
				*g = router.Unknown
			}
		}, func(in *router.Input) {
			in.Facts, in.Request.Blocks, in.Cached = nil, nil, make([]int, len(in.Cached))
		},
			func(in *router.PlanInput) { in.Rates, in.HalfLife, in.Reuse, in.Depth = nil, 0, router.Reuse{}, 0 }},
		{"stale figures", func(now router.Time, w *router.Worker) {
			w.Load.PeersAge = 30 * 24 * time.Hour
			for _, g := range gauges(w) {
				g.At = now.Add(-30 * 24 * time.Hour)
			}
		}, nil, func(in *router.PlanInput) { in.PreviousAge = 30 * 24 * time.Hour }},
		{"huge figures", func(_ router.Time, w *router.Worker) {
			w.Concurrency, w.KVTokens, w.Incarnation = hugeLoad, hugeLoad, 1<<63
			w.Load.InFlight, w.Load.QueuedTokens, w.Load.WorkingSet = hugeLoad, hugeLoad, hugeLoad
			w.Energy = router.Energy{PrefillJoules: hugeFigure, DecodeJoules: hugeFigure, SharedJoules: hugeFigure, WakeWatts: hugeFigure, PUE: hugeFigure}
			for _, g := range gauges(w) {
				g.Value = hugeFigure
			}
		}, func(in *router.Input) {
			in.Request.PromptTokens, in.Request.MaxTokens, in.Request.Key, in.Seed = hugeTokens, hugeTokens, 1<<64-1, 1<<64-1
		}, func(in *router.PlanInput) {
			in.TotalRate, in.OutputTokens, in.PromptTokens = hugeFigure, hugeFigure, hugeFigure
			for i := range in.Rates {
				in.Rates[i].Rate, in.Rates[i].Tokens = hugeFigure, hugeFigure
			}
		}},
		{"zero figures", func(_ router.Time, w *router.Worker) {
			*w = router.Worker{ID: w.ID}
		}, func(in *router.Input) {
			in.Request, in.Seed, in.Now = router.Request{}, 0, 0
			in.Cached = make([]int, len(in.Cached))
		}, func(in *router.PlanInput) {
			in.Now, in.Seed, in.TotalRate, in.OutputTokens, in.PromptTokens, in.Rates = 0, 0, 0, 0, 0, nil
		}},
		{"one worker", nil, func(in *router.Input) {
			in.Workers = in.Workers[:1]
			in.Cached = in.Cached[:min(1, len(in.Cached))]
		}, func(in *router.PlanInput) { one(in) }},
		{thousand, nil, func(in *router.Input) {
			first, cached := in.Workers[0], in.Cached
			in.Workers = many(first)
			if in.Cached = nil; len(cached) > 0 {
				in.Cached = make([]int, len(in.Workers))
			}
		}, func(in *router.PlanInput) { in.Fleet.Workers = many(in.Fleet.Workers[0]); homeless(in) }},
		{"no workers to plan for", nil, nil, func(in *router.PlanInput) { in.Fleet.Workers = nil; homeless(in) }},
	}
}

const thousand = "a thousand workers"

func one(in *router.PlanInput) {
	in.Fleet.Workers = in.Fleet.Workers[:1]
	homeless(in)
}

// homeless forgets where keys were served.
func homeless(in *router.PlanInput) {
	for i := range in.Rates {
		in.Rates[i].Home = 0
	}
}

func many(w router.Worker) []router.Worker {
	ws := make([]router.Worker, 1000)
	for i := range ws {
		ws[i] = w
		ws[i].ID, ws[i].Load.InFlight = fmt.Sprintf("w%03d", i), i%7
	}
	return ws
}

func figures(ctx context.Context, t *trial) {
	for _, v := range variants() {
		each := func(now router.Time, ws []router.Worker) {
			for i := range ws {
				if v.worker != nil {
					v.worker(now, &ws[i])
				}
			}
		}
		steps := variantSteps
		if v.name == thousand {
			steps = manySteps
		}
		t.survives(ctx, v.name, steps, change{
			route: func(_ int, in *router.Input) {
				each(in.Now, in.Workers)
				if v.route != nil {
					v.route(in)
				}
			},
			plan: func(_ int, in *router.PlanInput) {
				each(in.Now, in.Fleet.Workers)
				if v.plan != nil {
					v.plan(in)
				}
			},
		})
	}
}

// survives plays a short script with a change and holds each answer to what
// every answer must be. A planner may refuse an input with an error.
func (t *trial) survives(ctx context.Context, what string, steps int, c change) {
	if slices.ContainsFunc(t.base, func(a answer) bool { return sound(a) != nil }) {
		t.skip("its answers are wrong without it")
		return
	}
	o := t.fresh(t.def)
	if o == nil {
		return
	}
	defer o.close()
	for i, a := range t.play(ctx, o, script(o.info, steps, true), c) {
		if a.planned != nil && o.refused(a.err) {
			continue
		}
		if err := sound(a); err != nil {
			t.found("%s, call %d: %v", what, i+1, err)
		}
	}
}

// names renames all workers, the fleet's order by ID kept.
func names(ctx context.Context, t *trial) {
	for _, v := range []struct {
		what   string
		rename func(i int) string
	}{
		{"long names", func(i int) string { return fmt.Sprintf("%03d-%0200d", i, i) }},
		{"addresses", func(i int) string { return fmt.Sprintf("http://10.0.%d.7:8000", 100+i) }},
		{"names in Russian", func(i int) string { return fmt.Sprintf("узел-%03d", i) }},
	} {
		each := func(ws []router.Worker) {
			for i := range ws {
				ws[i].ID = v.rename(i)
			}
		}
		t.survives(ctx, v.what, variantSteps, change{
			route: func(_ int, in *router.Input) { each(in.Workers) },
			plan:  func(_ int, in *router.PlanInput) { each(in.Fleet.Workers) },
		})
	}
}
