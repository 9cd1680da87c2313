package measure

import (
	"time"

	"gatewayd/benchlab/engine"
)

// SLO is what a request must keep to count as good.
type SLO struct {
	TTFT time.Duration
	TPOT time.Duration
}

// Figures are the measurements of one run. Unknown figures are null.
type Figures struct {
	Requests  int       `json:"requests"`
	Completed int       `json:"completed"`
	Failures  []Failure `json:"failures"` // by kind; none listed when none failed
	// Seconds is the time from the first arrival to the last ending.
	Seconds float64 `json:"seconds"`
	// Throughput and Goodput are completed requests, and those of them within the
	// SLO, per second.
	Throughput float64 `json:"throughput_per_s"`
	Goodput    float64 `json:"goodput_per_s"`
	WithinSLO  float64 `json:"within_slo"` // share of all requests, failures are misses

	PromptTokens int64         `json:"prompt_tokens"` // of completed requests
	OutputTokens int64         `json:"output_tokens"`
	KVHit        engine.Figure `json:"kv_hit"` // cached share of these prompt tokens

	TTFT Spread `json:"ttft_s"` // from arrival at the gateway
	TPOT Spread `json:"tpot_s"` // of requests with two output tokens or more
	E2E  Spread `json:"e2e_s"`

	Balance
}

// Failure counts the failed requests of one kind.
type Failure struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Of measures a run.
func Of(run *Run, slo SLO) Figures {
	f := Figures{Requests: len(run.Requests), Failures: []Failure{}}
	var kinds [numOutcomes]int
	var ttft, tpot, e2e []float64
	var cached int64
	good := 0
	var from, to time.Duration
	for i := range run.Requests {
		r := &run.Requests[i]
		if i == 0 || r.Arrived < from {
			from = r.Arrived
		}
		to = max(to, r.Ended)
		kinds[r.Outcome]++
		if r.Outcome != Complete {
			continue
		}
		f.Completed++
		f.PromptTokens += int64(r.Prompt)
		f.OutputTokens += int64(r.Output)
		cached += int64(r.Cached)
		ttft = append(ttft, (r.First - r.Arrived).Seconds())
		e2e = append(e2e, (r.Ended - r.Arrived).Seconds())
		perToken := 0.0
		if r.Output > 1 {
			perToken = (r.Ended - r.First).Seconds() / float64(r.Output-1)
			tpot = append(tpot, perToken)
		}
		if r.First-r.Arrived <= slo.TTFT && perToken <= slo.TPOT.Seconds() {
			good++
		}
	}
	for kind, n := range kinds {
		if n > 0 && Outcome(kind) != Complete {
			f.Failures = append(f.Failures, Failure{Outcome(kind).String(), n})
		}
	}
	failed := f.Requests - f.Completed
	f.TTFT, f.TPOT, f.E2E = spread(ttft, failed), spread(tpot, failed), spread(e2e, failed)
	if f.PromptTokens > 0 {
		f.KVHit = engine.Known(float64(cached) / float64(f.PromptTokens))
	}
	if f.Seconds = (to - from).Seconds(); f.Seconds > 0 {
		f.Throughput = float64(f.Completed) / f.Seconds
		f.Goodput = float64(good) / f.Seconds
	}
	if f.Requests > 0 {
		f.WithinSLO = float64(good) / float64(f.Requests)
	}
	f.Balance = balance(run, f.Seconds)
	return f
}
