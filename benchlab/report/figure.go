package report

import (
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Column describes one figure that every contender has.
type Column struct {
	Name   string `json:"name"`   // as thresholds and JSON call it, ttft.p99
	Label  string `json:"label"`  // for a table, TTFT p99
	Unit   string `json:"unit"`   // as a table shows it, ms; "" for a bare number
	About  string `json:"about"`  // what it is, a sentence
	Better Way    `json:"better"` // which direction is the good one
	// Scale turns a value, which is in seconds, shares or plain counts, into Unit.
	Scale    float64 `json:"scale"`
	Decimals int     `json:"decimals"` // that a table shows
	// Sessions: its interval covers which sessions came, besides seeds. Other
	// figures exist once a run, so theirs covers seeds only.
	Sessions bool `json:"sessions_resampled"`

	value func(*measure.Figures) engine.Figure
}

// Way says which values of a figure are the good ones.
type Way string

const (
	Higher  Way = "higher"  // higher values are better
	Lower   Way = "lower"   // lower values are better
	Neither Way = "neither" // a figure that only describes
)

// Of returns the figure of a run.
func (c *Column) Of(f *measure.Figures) engine.Figure { return c.value(f) }

// Columns returns all figures in the order of the tables.
func Columns() []Column {
	known := engine.Known
	return []Column{
		{"kv_hit", "KV hit", "%", "prompt tokens served from prefix caches, over all prompt tokens of completed requests", Higher, 100, 1, true,
			func(f *measure.Figures) engine.Figure { return f.KVHit }},
		{"ttft.mean", "TTFT mean", "s", "arrival at the gateway to the first token, of completed requests", Lower, 1, 3, true,
			func(f *measure.Figures) engine.Figure { return f.TTFT.Mean }},
		{"ttft.p50", "TTFT p50", "s", "median time to the first token", Lower, 1, 3, true,
			func(f *measure.Figures) engine.Figure { return f.TTFT.P50 }},
		{"ttft.p99", "TTFT p99", "s", "99th percentile of the time to the first token", Lower, 1, 3, true,
			func(f *measure.Figures) engine.Figure { return f.TTFT.P99 }},
		{"ttft.p99_all", "TTFT p99 all", "s", "99th percentile of the time to the first token with failed requests as infinite; unknown where it is infinite itself", Lower, 1, 3, true,
			func(f *measure.Figures) engine.Figure { return f.TTFT.P99All }},
		{"tpot.mean", "TPOT mean", "ms", "mean time of a request's later tokens", Lower, 1000, 1, true,
			func(f *measure.Figures) engine.Figure { return f.TPOT.Mean }},
		{"tpot.p99", "TPOT p99", "ms", "99th percentile of the mean time of a request's later tokens", Lower, 1000, 1, true,
			func(f *measure.Figures) engine.Figure { return f.TPOT.P99 }},
		{"e2e.mean", "E2E mean", "s", "arrival at the gateway to the last token", Lower, 1, 2, true,
			func(f *measure.Figures) engine.Figure { return f.E2E.Mean }},
		{"e2e.p99", "E2E p99", "s", "99th percentile of the time to the last token", Lower, 1, 2, true,
			func(f *measure.Figures) engine.Figure { return f.E2E.P99 }},
		{"goodput", "goodput", "req/s", "completed requests within the SLO, per second from the first arrival to the last ending", Higher, 1, 2, true,
			func(f *measure.Figures) engine.Figure { return known(f.Goodput) }},
		{"within_slo", "within SLO", "%", "requests within the SLO, over all requests", Higher, 100, 1, true,
			func(f *measure.Figures) engine.Figure { return known(f.WithinSLO) }},
		{"failed", "failed", "%", "requests that did not complete, over all requests", Lower, 100, 2, true,
			func(f *measure.Figures) engine.Figure { return failed(f) }},
		{"throughput", "done", "req/s", "completed requests per second", Higher, 1, 2, false,
			func(f *measure.Figures) engine.Figure { return known(f.Throughput) }},
		{"imbalance.requests", "imbalance req", "", "highest over mean of the workers' completed requests", Lower, 1, 3, false,
			func(f *measure.Figures) engine.Figure { return f.ImbalanceRequests }},
		{"imbalance.tokens", "imbalance", "", "highest over mean of the workers' computed tokens, which are uncached prompt tokens and answers", Lower, 1, 3, false,
			func(f *measure.Figures) engine.Figure { return f.ImbalanceTokens }},
		{"prefill_util", "prefill util", "%", "share of the workers' time in which a request waited for its first token there", Neither, 100, 1, false,
			func(f *measure.Figures) engine.Figure { return f.PrefillUtilisation }},
		{"energy", "energy", "J/token", "of the GPUs per output token, while they step", Lower, 1, 3, false,
			func(f *measure.Figures) engine.Figure { return f.JoulesPerToken }},
		{"carbon", "carbon", "g/1k tok", "that energy times PUE times the intensity of the worker's zone, per 1,000 output tokens", Lower, 1, 4, false,
			func(f *measure.Figures) engine.Figure { return f.GramsPer1kTokens }},
		{"churn", "churn", "%", "mean share of a key's workers that a new plan replaced, 1 - Jaccard", Lower, 100, 2, false,
			func(f *measure.Figures) engine.Figure { return f.Churn }},
	}
}

func failed(f *measure.Figures) engine.Figure {
	if f.Requests == 0 {
		return engine.Figure{}
	}
	return engine.Known(float64(f.Requests-f.Completed) / float64(f.Requests))
}
