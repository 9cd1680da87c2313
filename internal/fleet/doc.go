// Package fleet knows the gateway's workers: which are up, which models and
// adapters they serve, when one began a new life, and what their engines say
// of their load.
//
// Every worker is watched by three goroutines (health, models, metrics) so that
// a hung answer to one question never delays another; what they find goes into
// small state machines, and from there into immutable Snapshots, one pool per
// base model. Nothing of it lies on the path of a request: the gateway reads a
// snapshot and reports what became of its requests.
//
// Reading order: spec.go (what goes in), snapshot.go and views.go (what comes
// out), discover.go with sources.go and register.go (where workers come from beside
// the configuration), outcome.go (what the gateway reports), fleet.go, watch.go (goroutines),
// client.go (HTTP), worker.go with learn.go (what is known of one worker), and
// probe.go (one look at one worker); the pure parts are health.go, breaker.go, ramp.go,
// life.go, metrics.go with names.go and sample.go, listing.go and pools.go.
package fleet
