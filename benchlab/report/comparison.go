// Package report holds the results of benchlab and writes them, as text for people
// and as JSON, CSV and JSON lines for programs. It works on io.Writer only. Equal
// results give equal bytes: what depends on the machine or the moment is under
// Timing alone.
//
// Reading order: comparison.go (the form of a result), setup.go, figure.go (the
// names of all figures), estimate.go, contender.go, sweep.go, timing.go; text.go,
// table.go, cell.go, notes.go (the text); json.go, csv.go, requests.go, curve.go;
// traceinfo.go.
package report

import "gatewayd/benchlab/engine"

// Format names the JSON form of a Comparison; it changes with every change that
// a reader could trip over. In JSON it is the member "format". Unknown figures
// are null, times are in seconds, shares are between 0 and 1.
const Format = "gatewayd.benchlab.comparison/2"

// Comparison is the same traffic through several contenders, several times over.
type Comparison struct {
	Command    []string    `json:"command"`            // that made it, the program's name first
	Version    string      `json:"version"`            // of benchlab
	Setup      Setup       `json:"setup"`              // what all contenders have in common
	Statistics Statistics  `json:"statistics"`         // where the intervals come from
	Figures    []Column    `json:"figures"`            // what there is of each contender, in order
	Contenders []Contender `json:"contenders"`         // as they were named
	Bounds     []Bound     `json:"bounds"`             // what no strategy can pass
	Protection []Effect    `json:"protection"`         // what protecting blocks is worth, of contenders that plan, if it was asked for
	Warnings   []string    `json:"warnings"`           // that a reader should know before believing it
	Thresholds []Verdict   `json:"thresholds"`         // that were asked for
	Capacity   *Sweep      `json:"capacity,omitempty"` // how much load each contender bears, if it was asked for
	Timing     *Timing     `json:"timing,omitempty"`   // wall-clock time; no part of a reproducible result
}

// Baseline returns the contender that the others are compared with; nil if there
// is none.
func (c *Comparison) Baseline() *Contender {
	for i := range c.Contenders {
		if c.Contenders[i].Baseline {
			return &c.Contenders[i]
		}
	}
	return nil
}

// Statistics says how the intervals came about.
type Statistics struct {
	Confidence float64  `json:"confidence"` // of the intervals, 0.95
	Power      float64  `json:"power"`      // of the smallest difference that could be seen, 0.8
	Seeds      []uint64 `json:"seeds"`      // each one is a run of every contender
	Draws      int      `json:"draws"`      // of the bootstrap
	Sessions   int      `json:"sessions"`   // that were resampled; a request without a session counts as one
	// EffectiveSessions is how many equally large sessions would tell as much:
	// (sum n)^2 / sum n^2 over their numbers of requests.
	EffectiveSessions float64 `json:"effective_sessions"`
	Method            string  `json:"method"`     // of the intervals, a sentence
	Correction        string  `json:"correction"` // for many contenders, a sentence
}

// Bound is a figure that no strategy can pass on this traffic and fleet.
type Bound struct {
	Name   string  `json:"name"`   // infinite_cache or clairvoyant
	Figure string  `json:"figure"` // the Column that it bounds
	About  string  `json:"about"`  // what the bound assumes, a sentence
	Value  float64 `json:"value"`  // the bound, for the traffic of the first seed
	// Closed is, for each contender, its share of the way from the baseline to the
	// bound: 0 for the baseline, negative for a contender that is worse; null where
	// the baseline is as good as at the bound, within 0.01.
	Closed []engine.Figure `json:"gap_closed"`
}

// Effect is what a condition changes for one contender: its figures with it minus
// those without.
type Effect struct {
	Contender string                `json:"contender"`
	Figures   map[string]Difference `json:"figures"` // by Column.Name
}

// Verdict is a threshold and what became of it.
type Verdict struct {
	Text      string        `json:"text"`      // as it was asked for
	Contender string        `json:"contender"` // that it was held against
	Figure    string        `json:"figure"`
	Op        string        `json:"op"`    // one of < <= > >=
	Limit     float64       `json:"limit"` // in the figure's unit
	Value     engine.Figure `json:"value"` // a mean over seeds; null counts as crossed
	Crossed   bool          `json:"crossed"`
}
