// Package router is the contract between gateways and routing strategies, and
// the pure core that runs a chain of strategies.
//
// A strategy is a deterministic state machine without I/O: time, randomness,
// the fleet's state and shared facts come in as values, decisions and plans go
// out as values. The same strategy therefore routes live traffic in a process
// of its own, and is measured in benchlab in virtual time, with the same
// answers for the same numbered inputs.
//
// Reading order: strategy.go (what an author implements), request.go,
// worker.go, decision.go, plan.go, feature.go (the values), then core.go and
// life.go (the life of a request), chain.go (one walk down the chain), exec.go (a
// plan at work), fleet.go, ledger.go, holds.go, shared.go, index.go, prefixes.go, queue.go,
// planning.go and snapshot.go. The scripts in testdata show all of it at work;
// the laws that hold are in docs/laws.md.
//
// Nothing here reads a clock, a random source, the network or a file.
package router
