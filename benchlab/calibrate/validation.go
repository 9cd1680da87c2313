package calibrate

import (
	"fmt"

	"gatewayd/benchlab/engine"
)

// ValidationFormat names the JSON form of a Validation.
const ValidationFormat = "gatewayd.benchlab.validation/1"

// Validation says how far a profile is from a recorded run.
type Validation struct {
	Format    string         `json:"format"`
	Run       string         `json:"run"`
	Engine    string         `json:"engine"`
	Model     string         `json:"model"`
	Profile   string         `json:"profile"`
	Source    string         `json:"source"` // of the profile
	Requests  int            `json:"requests"`
	Skipped   int            `json:"skipped"` // of these, by arrival, left out of the errors
	Errors                   // ttft, tpot, e2e
	Notes     []string       `json:"notes"`
	EachError []RequestError `json:"per_request"`
}

// Validate replays a run and compares, over all requests but the first skip by
// arrival.
func Validate(run *Run, p engine.Profile, skip int) (*Validation, error) {
	if err := p.CheckPhysics(); err != nil {
		return nil, err
	}
	served, err := Replay(run, p)
	if err != nil {
		return nil, err
	}
	v := &Validation{
		Format: ValidationFormat, Run: run.Name, Engine: run.Engine, Model: run.Model,
		Profile: p.Name, Source: p.Source, Requests: len(run.Requests), Skipped: skip,
		Notes: append([]string{}, run.Notes...),
	}
	v.Errors, v.EachError, err = Judge(run, served, skip)
	v.Notes = append(v.Notes, differences(run, p)...)
	return v, err
}

// differences says what of a profile the replay does not take over, or what is
// suspicious.
func differences(run *Run, p engine.Profile) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if p.Model != run.Model {
		note("the profile is of %s, the run of %s", p.Model, run.Model)
	}
	if p.GPUs != run.GPUs {
		note("the profile is of %d GPUs, the run of %d", p.GPUs, run.GPUs)
	}
	q := Prepared(run, p)
	if p.MaxSeqs != q.MaxSeqs || p.MaxBatchedTokens != q.MaxBatchedTokens {
		note("replayed with the run's engine arguments: %d sequences, %d batched tokens", q.MaxSeqs, q.MaxBatchedTokens)
	}
	if p.KVBlocks == 0 {
		note("the KV capacity is unknown: replayed with room for every request")
	}
	return notes
}
