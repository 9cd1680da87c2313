package page

import (
	"math"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
)

// example is a result with contenders that are better, worse, no different and
// unknown. Its numbers are made up but agree with each other.
func example(names ...string) *report.Comparison {
	if len(names) == 0 {
		names = []string{"round-robin", "least-busy", "cacheroute+sticky+joule", "sticky", "./größer"}
	}
	c := &report.Comparison{
		Command: []string{"benchlab", "compare", "--trace", "it's chat.jsonl", "--threshold", "ttft.p99<3s"}, Version: "v1.2.3",
		Setup: exampleSetup(),
		Statistics: report.Statistics{
			Confidence: 0.95, Power: 0.8, Seeds: []uint64{1, 2, 3, 4, 5}, Draws: 2000, Sessions: 812, EffectiveSessions: 340.4,
			Method: "Sessions are resampled.", Correction: "The largest of all statistics is bounded.",
		},
		Figures:  report.Columns(),
		Warnings: []string{"Sessions were inferred from prefixes."},
		Thresholds: []report.Verdict{
			{Text: "ttft.p99<3s", Contender: names[0], Figure: "ttft.p99", Op: "<", Limit: 3, Value: engine.Known(4.2), Crossed: true},
		},
		Capacity: exampleSweep(names),
		Timing: &report.Timing{Seconds: 12.25, Requests: 61725, Processors: 2, Contenders: []report.ContenderTime{
			{Name: names[0], Seconds: 4, PerRequest: 19e-6, Calls: []report.CallTime{{Strategy: "round-robin", Call: "route", Count: 12345, Mean: 120e-9, P99: 250e-9, Max: 11e-6}}},
			{Name: names[len(names)-1], Seconds: 4.5, PerRequest: 23.4e-6},
		}},
	}
	share := []float64{1, 0.8, 0.45, 1.02, 1.4}
	verdicts := []report.Standing{"", report.Better, report.Better, report.Indistinguishable, report.Worse}
	for i, name := range names {
		x := report.Contender{Name: name, Baseline: i == 0, Figures: map[string]report.Estimate{}}
		for n, k := range c.Figures {
			base := 0.4 * float64(n+2) / k.Scale
			times := share[i]
			if k.Better == report.Higher {
				times = 2 - times
			}
			e := report.Estimate{Mean: engine.Known(base * times), Low: engine.Known(base * times * 0.96), High: engine.Known(base * times * 1.05)}
			if i > 0 {
				d := base * (times - 1)
				e.Difference = &report.Difference{Mean: engine.Known(d), Low: engine.Known(d - 0.05*base), High: engine.Known(d + 0.06*base),
					P: engine.Known(0.01), Detectable: engine.Known(0.07 * base), Verdict: verdicts[i]}
			}
			x.Figures[k.Name] = e
		}
		if i == 4 {
			x.Figures["ttft.p99"] = report.Estimate{Difference: &report.Difference{Verdict: report.Unknown}}
		}
		cached := 0.5 / share[i]
		if cached > 0.6 {
			cached = 0.6
		}
		x.Misses = report.Misses{Cached: engine.Known(cached), Compulsory: engine.Known(0.35), Evicted: engine.Known((0.65 - cached) / 2),
			Elsewhere: engine.Known((0.65 - cached) / 4), Stale: engine.Known((0.65 - cached) / 4)}
		x.Curves = []report.Curve{
			curve("ttft", 0.4*share[i], 0.9), curve("tpot", 0.02*math.Sqrt(share[i]), 0.3), curve("e2e", 6*share[i], 0.7),
		}
		x.Runs = exampleRuns(i, c.Statistics.Seeds)
		c.Contenders = append(c.Contenders, x)
	}
	c.Bounds = []report.Bound{
		{Name: "infinite_cache", Figure: "kv_hit", About: "a cache that never evicts and is on every worker", Value: 0.65,
			Closed: []engine.Figure{engine.Known(0), engine.Known(0.4), engine.Known(0.9), engine.Known(-0.03), {}}},
		{Name: "clairvoyant", Figure: "ttft.mean", About: "a strategy that knows all lengths", Value: 0.31,
			Closed: []engine.Figure{engine.Known(0), engine.Known(0.3), engine.Known(0.8), engine.Known(-0.01), {}}},
	}
	return c
}

func exampleSetup() report.Setup {
	return report.Setup{
		Trace: report.Trace{
			Name: "chat.jsonl", Origin: "a chat service", SHA256: "ab12", Format: "mooncake", Rows: 12345, Span: 1000, BlockTokens: 512,
			Scope: "global", Partial: "partial last block counted", MeanInput: 6955, MeanOutput: 152, Notes: []string{"first repair", "second repair"},
		},
		Workers: 8, Profile: engine.Profile{Name: "small", GPU: "H100", GPUs: 1, KVBlocks: 1000, BlockTokens: 16},
		Assumed: []string{"power of 400 W"}, Zones: []report.Zone{{Name: "FR", GramsPerKWh: 56, Source: "a survey"}}, PUE: 1.58, TTFT: 2, TPOT: 0.05,
		Options:  report.Options{RateScale: 1.5, Timing: "recorded", PlanDelay: 0.05, Gateways: 2, Sync: 1, Scrape: 0.5, Signal: "usage", Protect: "none", Faults: []string{"crash:w3@30s+20s"}},
		Programs: []report.Program{{Path: "./größer", SHA256: "cd34"}},
	}
}

// exampleSweep has a contender that keeps the SLO to the end and one that never
// does.
func exampleSweep(names []string) *report.Sweep {
	setup := exampleSetup()
	s := &report.Sweep{Setup: &setup, Seeds: []uint64{1, 2, 3}, Over: "load", Label: "offered load, req/s"}
	for i, name := range names[:min(3, len(names))] {
		c := report.Series{Name: name, Capacity: &report.Capacity{At: engine.Known(2 + float64(i)), Rate: engine.Known(12.5 * (2 + float64(i))), Fails: engine.Known(2.5 + float64(i))}}
		for step := range 8 {
			load := 10 * float64(step+1)
			figures := map[string]engine.Figure{"kv_hit": engine.Known(0.3 + 0.1*float64(i)), "goodput": engine.Known(min(load, 30+10*float64(i)))}
			if step < 7 {
				figures["ttft.p99"] = engine.Known(0.3 * math.Exp(load/(12+4*float64(i))))
			}
			c.Points = append(c.Points, report.Point{At: load, Rate: load, Figures: figures})
		}
		s.Contenders = append(s.Contenders, c)
	}
	s.Contenders[0].Capacity = &report.Capacity{Fails: engine.Known(1)}
	return s
}

// curve has the quantiles of a lognormal distribution.
func curve(figure string, median, sigma float64) report.Curve {
	c := report.Curve{Figure: figure}
	const steps = 100
	for i := range steps + 1 {
		p := (float64(i) + 0.5) / (steps + 1)
		c.Seconds = append(c.Seconds, median*math.Exp(sigma*math.Sqrt2*math.Erfinv(2*p-1)))
	}
	return c
}

func exampleRuns(i int, seeds []uint64) []report.Run {
	var runs []report.Run
	for _, seed := range seeds {
		r := report.Run{Seed: seed, Decisions: []measure.Decision{{Strategy: "two-choices", Reason: "rest", Count: 100}}}
		if i == 2 {
			r.Decisions = append(r.Decisions, measure.Decision{Strategy: "cacheroute", Reason: "table", Count: 900})
			r.Strategies = []measure.Strategy{{Name: "cacheroute", Plans: 4, Failed: 1, FirstError: "no rates"}}
		}
		if i == 4 {
			r.Figures.Failures = []measure.Failure{{Kind: "queue_full", Count: 30}, {Kind: "worker_lost", Count: 1}}
		}
		r.Series = exampleSeries(i)
		r.Faults = []measure.Fault{{At: 30 * time.Second, Text: "crash:w3@30s+20s"}, {At: 50 * time.Second, Text: "crash:w3@30s+20s", Over: true}}
		runs = append(runs, r)
	}
	return runs
}

// exampleSeries is a load that rises and falls, more evenly for some contenders.
func exampleSeries(i int) measure.Series {
	s := measure.Series{Step: 10 * time.Second}
	for w := range 8 {
		load := make([]float32, 100)
		for b := range load {
			load[b] = float32(10 + 8*math.Sin(float64(b)/12+float64(w*i)))
		}
		s.Load = append(s.Load, load)
	}
	return s
}
