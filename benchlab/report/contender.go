package report

import (
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Contender is what one chain of strategies made of the traffic.
type Contender struct {
	Name     string              `json:"name"`
	Baseline bool                `json:"baseline"`
	Figures  map[string]Estimate `json:"figures"` // by Column.Name
	Misses   Misses              `json:"misses"`
	Curves   []Curve             `json:"curves"`
	Runs     []Run               `json:"runs"` // in order of Statistics.Seeds
}

// Misses says where the prompt tokens of completed requests came from, as shares
// of them all, means over seeds. The shares add up to 1.
type Misses struct {
	Cached     engine.Figure `json:"cached"`     // served from the worker's prefix cache
	Compulsory engine.Figure `json:"compulsory"` // nobody in the fleet had seen them
	Evicted    engine.Figure `json:"evicted"`    // the worker once had them and lost them
	Elsewhere  engine.Figure `json:"elsewhere"`  // another worker had them
	Stale      engine.Figure `json:"stale"`      // the gateway believed this worker had them
}

// Curve is the distribution of one time over the completed requests of all seeds.
type Curve struct {
	Figure string `json:"figure"` // ttft, tpot or e2e
	// Seconds are the quantiles at equal steps from the minimum to the maximum:
	// the share of requests up to Seconds[i] is at least i/(len(Seconds)-1).
	Seconds []float64 `json:"seconds"`
}

// Run is one contender with one seed.
type Run struct {
	Seed       uint64             `json:"seed"`
	Figures    measure.Figures    `json:"figures"`
	Strategies []measure.Strategy `json:"strategies"`
	Decisions  []measure.Decision `json:"decisions"`
	Workers    []Worker           `json:"workers"`
	Series     measure.Series     `json:"series,omitzero"` // load over time, of the first seed alone
	Faults     []measure.Fault    `json:"faults"`          // that happened
}

// Worker is what one worker did in a run.
type Worker struct {
	ID           string        `json:"id"`
	Zone         string        `json:"zone"`
	Requests     int           `json:"requests"` // completed
	PromptTokens int64         `json:"prompt_tokens"`
	CachedTokens int64         `json:"cached_tokens"`
	OutputTokens int64         `json:"output_tokens"`
	Preemptions  int64         `json:"preemptions"`
	Steps        int64         `json:"steps"`
	Busy         float64       `json:"busy_s"`
	Prefill      float64       `json:"prefill_waiting_s"` // with a request before its first token
	Joules       engine.Figure `json:"joules"`
}

// NewRun measures a run.
func NewRun(seed uint64, run *measure.Run, slo measure.SLO) Run {
	r := Run{Seed: seed, Figures: measure.Of(run, slo), Strategies: run.Strategies, Decisions: run.Decisions,
		Series: run.Series, Faults: run.Faults}
	for _, w := range run.Workers {
		r.Workers = append(r.Workers, Worker{
			ID: w.ID, Zone: w.Zone, Preemptions: w.Stats.Preemptions, Steps: w.Stats.Steps,
			Busy: w.Stats.Busy.Seconds(), Prefill: w.Prefill.Seconds(), Joules: w.Stats.Joules,
		})
	}
	for i := range run.Requests {
		if q := &run.Requests[i]; q.Outcome == measure.Complete {
			w := &r.Workers[q.Worker]
			w.Requests++
			w.PromptTokens += int64(q.Prompt)
			w.CachedTokens += int64(q.Cached)
			w.OutputTokens += int64(q.Output)
		}
	}
	return r
}
