// Package report writes what benchlab found out, as text for people and as JSON
// for programs. It works on io.Writer only. Equal results give equal bytes:
// nothing that depends on the machine or the moment is in a report.
//
// Reading order: comparison.go (the form), text.go and columns.go (the table),
// notes.go (what stands around it), traceinfo.go.
package report

import (
	"encoding/json"
	"io"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Format names the JSON form of a Comparison; it changes with every change that
// a reader could trip over.
const Format = "gatewayd.benchlab.comparison/1"

// Comparison is the same traffic through several contenders.
type Comparison struct {
	Setup      Setup       `json:"setup"`
	Contenders []Contender `json:"contenders"`
}

// Setup is what all contenders had in common.
type Setup struct {
	Trace         Trace          `json:"trace"`
	Seed          uint64         `json:"seed"`
	RateScale     float64        `json:"rate_scale"`
	Workers       int            `json:"workers"`
	Profile       engine.Profile `json:"profile"`
	Zones         []Zone         `json:"zones"` // of the workers, in turn
	PUE           float64        `json:"pue"`
	PlanDelay     float64        `json:"plan_delay_s"`     // virtual
	DecisionDelay float64        `json:"decision_delay_s"` // virtual, of each Route call
	TTFT          float64        `json:"slo_ttft_s"`
	TPOT          float64        `json:"slo_tpot_s"`
}

// Trace says which traffic it was. The rate is what was offered, after scaling.
type Trace struct {
	Name        string   `json:"name"`
	Origin      string   `json:"origin,omitempty"`
	SHA256      string   `json:"sha256"` // of the file as it was read
	Format      string   `json:"format"`
	Rows        int      `json:"rows"`
	Span        float64  `json:"span_s"` // from the first arrival to the last
	BlockTokens int      `json:"block_tokens"`
	Scope       string   `json:"block_scope"`
	Partial     string   `json:"partial_block"`
	MeanInput   float64  `json:"mean_input_tokens"`
	MeanOutput  float64  `json:"mean_output_tokens"`
	Notes       []string `json:"notes"` // repairs and reshapings
}

// Zone is an electricity grid zone.
type Zone struct {
	Name        string  `json:"name"`
	GramsPerKWh float64 `json:"gco2e_per_kwh"`
	Source      string  `json:"source"`
}

// Contender is what one chain of strategies made of the traffic.
type Contender struct {
	Name       string             `json:"name"`
	Figures    measure.Figures    `json:"figures"`
	Strategies []measure.Strategy `json:"strategies"`
	Decisions  []measure.Decision `json:"decisions"`
	Workers    []Worker           `json:"workers"`
}

// Worker is what one worker did for a contender.
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

// NewContender measures a run.
func NewContender(name string, run *measure.Run, slo measure.SLO) Contender {
	c := Contender{Name: name, Figures: measure.Of(run, slo), Strategies: run.Strategies, Decisions: run.Decisions}
	for _, w := range run.Workers {
		c.Workers = append(c.Workers, Worker{
			ID: w.ID, Zone: w.Zone, Preemptions: w.Stats.Preemptions, Steps: w.Stats.Steps,
			Busy: w.Stats.Busy.Seconds(), Prefill: w.Prefill.Seconds(), Joules: w.Stats.Joules,
		})
	}
	for i := range run.Requests {
		if r := &run.Requests[i]; r.Outcome == measure.Complete {
			w := &c.Workers[r.Worker]
			w.Requests++
			w.PromptTokens += int64(r.Prompt)
			w.CachedTokens += int64(r.Cached)
			w.OutputTokens += int64(r.Output)
		}
	}
	return c
}

// WriteJSON writes the comparison as indented JSON.
func (c *Comparison) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Format string `json:"format"`
		*Comparison
	}{Format, c})
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
