// Package estimator keeps decayed estimates of demand and service: request
// rates per key, smoothed means, working sets. It is pure: times come in as
// nanoseconds since an origin the caller chooses, nothing reads a clock.
//
// Decay is by wall clock and linear, so the snapshots of several gateways add
// up exactly for keys that all of them track. A type is not safe for
// concurrent use; its owner serialises.
package estimator
