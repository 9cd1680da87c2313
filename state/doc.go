// Package state is what the gateways of a fleet share: facts of strategies,
// snapshots of estimators, the planning lease and the published plans.
//
// A store carries bytes. It knows nothing of routing but the names of facts,
// and what it carries is an improvement, never a condition: a gateway whose
// store is away serves every request from what it knows itself. Therefore
// nothing in a store outlives its time to live, a value that cannot be read
// counts as absent, and every call ends within its context.
//
// Time is the store's own: ages and times to live are measured by one clock
// for all gateways, so gateways with different clocks agree.
//
// Reading order: state.go (the interfaces), limits.go (what they refuse). The
// folder memory holds the store of a gateway that works alone, redis the one
// of a fleet; statetest is the conformance kit that both pass.
package state
