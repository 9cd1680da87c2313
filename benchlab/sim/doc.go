// Package sim is a deterministic discrete-event simulation of gateways and their
// workers. It drives the core that gateways run (pkg/router) in virtual time,
// with a trace as traffic and benchlab/engine as workers, so a strategy is
// measured by the code that serves it live.
//
//	run, err := sim.Run(ctx, sim.Config{Trace: t, Workers: sim.Fleet(8, profile), Chain: chain, Seed: 1})
//	figures := measure.Of(run, slo)
//
// It does no I/O, reads no clock and has one random stream per purpose, derived
// from the seed: equal configs give equal results, to the bit, on any number of
// processors. One goroutine runs one simulation; any number may run side by side on
// one trace and one Outline. Beside 64 bytes a request of results, memory does not
// grow with the trace.
//
// What happens at one instant happens in a fixed order: steps of workers end,
// faults end and begin, gateways notice, plans come into force, answers of
// strategies and time-outs arrive, figures are read, the clock ticks, gateways
// exchange what they share, plans are made, requests arrive, and then idle workers
// begin their next step.
//
// # Faults
//
// A worker that crashes loses its requests. As in a gateway, those without a first
// token are tried at another worker, at most three in all, and the others have
// failed. Gateways notice after Options.DetectDelay; until then a request that goes
// there finds nobody and is tried elsewhere at once. A gateway that crashes takes
// its requests with it.
//
// # Several gateways
//
// Each has a core, strategies and a view of its own. Once per
// Options.SyncInterval each stores its figures, in the packed form that live
// gateways send, reads the others', takes or renews the lease to plan, and adopts
// the planner's newest plan; holds and other facts are shared through the store
// when a gateway meets a key. The exchanges of gateways are spread evenly over the
// interval.
//
// # Misses
//
// For each completed request the tokens that were computed are split by why they
// were not cached: see measure.Misses. What was seen before is a fact of the
// trace's rows (Outline); where it was is looked up when the request is routed, at
// its worker and at up to four workers of the last rows that share its start.
//
// # Laws
//
// While it runs and at its end a simulation checks its laws: every request ends
// exactly once, none goes to a worker that gateways know to be down or draining,
// every open request is one life in a core, nothing is left in a core or a worker,
// the workers' totals add up to those of the requests, cached and missed tokens to
// the prompt, and no turn is sent before the answers it follows. Run fails with
// ErrLaw otherwise.
//
// Reading order: config.go, fault.go and schedule.go, fleet.go (the two-zone
// fleet), outline.go (what a trace says of itself), run.go (the loop), agenda.go
// (events), gateway.go, walk.go (steps of the core), plans.go, protect.go, store.go
// and exchange.go (what gateways share), machine.go (workers), failing.go, job.go
// and session.go (requests), miss.go, series.go, laws.go; oracle.go,
// bound.go and tree.go (what strategies are compared with).
package sim
