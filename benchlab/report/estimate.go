package report

import "gatewayd/benchlab/engine"

// Estimate is one figure of one contender.
type Estimate struct {
	Mean  engine.Figure   `json:"mean"`  // over seeds
	Low   engine.Figure   `json:"low"`   // the interval of the mean; unknown with one seed
	High  engine.Figure   `json:"high"`  // for figures that a run has once
	Seeds []engine.Figure `json:"seeds"` // of each run, in order of Statistics.Seeds
	// Difference is to the baseline; absent from the baseline's own figures.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is a contender's figure minus the baseline's. Its interval is wide
// enough that those of all contenders hold together.
type Difference struct {
	Mean engine.Figure `json:"mean"`
	Low  engine.Figure `json:"low"`
	High engine.Figure `json:"high"`
	// P is the probability of a difference at least as far from 0 among all
	// contenders if none differed from the baseline.
	P engine.Figure `json:"p"`
	// Detectable is the smallest true difference that this comparison would have
	// told from 0 with the stated power.
	Detectable engine.Figure `json:"detectable"`
	Verdict    Standing      `json:"verdict"`
}

// Standing is how a contender compares with the baseline.
type Standing string

const (
	// Better and Worse leave 0 out, in the good direction or in the other one.
	Better Standing = "better"
	Worse  Standing = "worse" // see Better
	// Different leaves 0 out where neither direction is the good one.
	Different Standing = "different"
	// Indistinguishable has 0 in its interval.
	Indistinguishable Standing = "not distinguishable"
	// Unknown has no interval, or no figure.
	Unknown Standing = "unknown"
)

// Mark is the standing as a single character: + - ! ~ and a space.
func (s Standing) Mark() string {
	switch s {
	case Better:
		return "+"
	case Worse:
		return "-"
	case Different:
		return "!"
	case Indistinguishable:
		return "~"
	default:
		return " "
	}
}
