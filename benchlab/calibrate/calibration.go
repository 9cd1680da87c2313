package calibrate

import (
	"context"
	"fmt"
	"strings"

	"gatewayd/benchlab/engine"
)

// CalibrationFormat names the JSON form of a Calibration.
const CalibrationFormat = "gatewayd.benchlab.calibration/1"

// Calibration is a fit with all that there is to say about it.
type Calibration struct {
	Format       string         `json:"format"`
	Run          string         `json:"run"`
	Engine       string         `json:"engine"`
	Requests     int            `json:"requests"`
	Fitted       int            `json:"fitted"` // of these, by arrival, in the loss
	Coefficients []Estimate     `json:"coefficients"`
	Unknown      []Unknown      `json:"unknown"`
	InSample     Errors         `json:"in_sample"` // over the fitted requests
	HeldOut      *Errors        `json:"held_out"`  // over the others; null if there are none
	Profile      engine.Profile `json:"profile"`
	Limits       []engine.Limit `json:"limits"`
	Notes        []string       `json:"notes"`
}

// Unknown is a figure of a profile that no run tells.
type Unknown struct {
	Field string `json:"field"`
	Why   string `json:"why"`
}

// Calibrate fits a profile to a run and judges it. The profile's source is written
// by the fit.
func Calibrate(ctx context.Context, run *Run, base engine.Profile, o Options) (*Calibration, error) {
	f, err := Fit(ctx, run, base, o)
	if err != nil {
		return nil, err
	}
	f.Profile.Source = source(run, base, f)
	if err := f.Profile.CheckPhysics(); err != nil {
		return nil, err
	}
	c := &Calibration{
		Format: CalibrationFormat, Run: run.Name, Engine: run.Engine,
		Requests: len(run.Requests), Fitted: f.Requests, Coefficients: f.Estimates,
		Profile: f.Profile, Limits: f.Profile.Limits(), Unknown: unknown(f.Profile),
		Notes: append(append([]string{}, run.Notes...), differences(run, f.Profile)...),
	}
	if _, bounded := c.Limits[0].Bound.Value(); !bounded {
		c.Notes = append(c.Notes, fmt.Sprintf("no physical bounds: model %q or GPU %q is not in the tables", base.Model, base.GPU))
	}
	served, err := Replay(run, f.Profile)
	if err != nil {
		return nil, err
	}
	if c.InSample, err = judge(run, served, 0, f.Requests); err != nil || f.Requests == len(run.Requests) {
		return c, err
	}
	held, err := judge(run, served, f.Requests, len(run.Requests))
	c.HeldOut = &held
	return c, err
}

func judge(run *Run, served []Served, from, to int) (Errors, error) {
	part := *run
	part.Requests = run.Requests[from:to]
	e, _, err := Judge(&part, served[from:to], 0)
	return e, err
}

func source(run *Run, base engine.Profile, f *Fitted) string {
	text := fmt.Sprintf("benchlab calibrate, on %d of %d requests of run %s (%s)", f.Requests, len(run.Requests), run.Name, run.Engine)
	var open []string
	for _, e := range f.Estimates {
		if _, known := e.Value.Value(); !known {
			open = append(open, e.Field)
		}
	}
	if len(open) > 0 {
		text += "; not determined by it: " + strings.Join(open, ", ")
	}
	if base.Source != "" {
		text += "; " + strings.TrimPrefix(base.Source, "; ")
	}
	return text
}

// unknown lists what a fit leaves open in any case.
func unknown(p engine.Profile) (list []Unknown) {
	list = []Unknown{
		{"decode_ms", "acts as overhead_ms does, which holds their sum"},
		{"decode_seq_ms", "acts as overhead_seq_ms does in decoding, which holds their sum"},
	}
	if p.KVBlocks == 0 {
		list = append(list, Unknown{"kv_blocks", "no figure of the KV cache was recorded; assume one with --kv-blocks"})
	}
	if _, known := p.Power.Watts(1).Value(); !known {
		list = append(list, Unknown{"power", "no power was recorded"})
	}
	return list
}
