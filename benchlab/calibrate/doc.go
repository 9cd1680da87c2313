// Package calibrate checks the engine model against a recorded run of a real
// engine, and fits its coefficients to one.
//
// A run is what one engine was asked and when each answer came: ReadRun reads it
// from a directory. Replay puts the same requests through benchlab/engine, Judge
// says how far the model is off, and Fit searches the coefficients of the step
// time that make it least so, within the bounds of physics. Validate and Calibrate
// do both and tell the story.
//
// The package reads files through io/fs only and knows no clock; equal input
// gives equal results, to the bit.
//
// Reading order: run.go (what was recorded), read.go, meta.go, rows.go and
// workload.go (its files), replay.go, judge.go (errors), space.go (what is searched,
// within which bounds), fit.go, search.go and lean.go (the search), doubt.go (what
// the run does not determine), validation.go, calibration.go and text.go (results).
package calibrate
