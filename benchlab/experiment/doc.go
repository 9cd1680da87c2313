// Package experiment turns runs into answers: which contender is better on the
// same traffic, by how much, and how sure that is. It plans which runs are needed
// and judges them; whoever calls it makes them, so simulated and live runs are
// judged alike.
//
//	a, err := experiment.NewAnalysis(plan)
//	grid := experiment.Grid{Contenders: 3, Seeds: 5, Parallel: runtime.GOMAXPROCS(0)}
//	err = experiment.Run(ctx, grid, simulate, func(c experiment.Cell, r *measure.Run) error { return a.Add(c, sessions, r) })
//	comparison, err := a.Comparison()
//
// It does no I/O and reads no clock: equal runs give equal results.
//
// Reading order: grid.go (contenders times seeds), analysis.go (from runs to a
// report.Comparison), reduce.go (what is kept of a run), estimates.go,
// bounds.go, warnings.go, threshold.go (verdicts), ladder.go and point.go (capacity).
package experiment
