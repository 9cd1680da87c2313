// Package sim is a deterministic discrete-event simulation of a gateway and its
// workers. It drives the core that gateways run (pkg/router) in virtual time,
// with a trace as traffic and benchlab/engine as workers, so a strategy is
// measured by the code that serves it live.
//
//	run, err := sim.Run(ctx, sim.Config{Trace: t, Workers: sim.Fleet(8, profile), Chain: chain, Seed: 1})
//	figures := measure.Of(run, slo)
//
// It does no I/O, reads no clock and has one random stream per purpose, derived
// from the seed: equal configs give equal results, to the bit. One goroutine runs
// one simulation; any number may run side by side on one trace.
//
// What happens at one instant happens in a fixed order: steps of workers end,
// plans come into force, answers of strategies and time-outs arrive, the clock
// ticks, requests arrive, and then idle workers begin their next step.
//
// While it runs and at its end a simulation checks its laws: every request ends
// exactly once, nothing is left in the core or in a worker, and the workers'
// totals add up to those of the requests. Run fails with ErrLaw otherwise.
//
// Reading order: config.go, fleet.go (the two-zone fleet), run.go (the loop),
// agenda.go (events), gateway.go (steps of the core), plans.go, machine.go
// (workers), job.go (requests), laws.go.
package sim
