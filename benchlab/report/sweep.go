package report

import "gatewayd/benchlab/engine"

// SweepFormat names the JSON form of a Sweep that stands alone.
const SweepFormat = "gatewayd.benchlab.sweep/1"

// Sweep is a comparison at several values of one condition.
type Sweep struct {
	Command    []string `json:"command,omitempty"`
	Version    string   `json:"version,omitempty"`
	Setup      *Setup   `json:"setup,omitempty"` // but for the condition; absent inside a Comparison
	Seeds      []uint64 `json:"seeds"`
	Over       string   `json:"over"`  // load, workers, staleness, gateways or cache
	Label      string   `json:"label"` // of the axis, with its unit
	Contenders []Series `json:"contenders"`
	Warnings   []string `json:"warnings"`
	Timing     *Timing  `json:"timing,omitempty"`
}

// Series is one contender over the condition.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"` // by At, lowest first
	// Capacity is the largest load that keeps the SLO; absent unless it was looked
	// for.
	Capacity *Capacity `json:"capacity,omitempty"`
}

// Point is a contender at one value of the condition.
type Point struct {
	At      float64                  `json:"at"`           // in the unit of the axis
	Rate    float64                  `json:"offered_rps"`  // requests per second
	Figures map[string]engine.Figure `json:"figures"`      // by Column.Name, means over seeds
	Meets   bool                     `json:"meets_slo"`    // p99 of TTFT within the SLO and at most 5 % failed
	Refined bool                     `json:"by_bisection"` // not a step of the ladder
}

// Capacity is the largest load at which the p99 of TTFT meets the SLO and at most
// 5 % of the requests fail.
type Capacity struct {
	// At is the largest load that was seen to keep it, as a rate scale and in
	// requests per second; unknown if not even the smallest did.
	At   engine.Figure `json:"rate_scale"`
	Rate engine.Figure `json:"offered_rps"`
	// Fails is the smallest larger load that was seen not to; unknown if the
	// largest one did.
	Fails engine.Figure `json:"fails_at_rate_scale"`
}
