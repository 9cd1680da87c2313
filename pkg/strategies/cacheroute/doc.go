// Package cacheroute places keys on workers ahead of their requests, so that a
// key's prefix stays in one cache while load stays balanced (CacheRoute,
// arXiv:2608.19677).
//
// Paper is Algorithm 1 of the paper as published: a fresh plan each time.
// Planned is ours: it keeps homes, moves the fewest keys that bring imbalance
// under a bound, and admits by KV tokens instead of equal slots. Its Divide also
// keeps cold traffic away from the keys that it would drive out of the caches.
// Both are pure functions of their input.
//
// Reading order: cacheroute.go (options), plan.go and live.go (from a planner's
// input to a plan), rest.go (keys without a place), placement.go (the result),
// paper.go; planned.go, draft.go, settle.go, balance.go; speed.go and power.go
// (workers of different speed); divide.go, split.go, fill.go, curve.go, merge.go, trim.go,
// undivided.go; then trial.go, stage.go and interval.go (what is done of it now),
// order.go and churn.go.
package cacheroute
