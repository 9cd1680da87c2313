// Package estimator keeps decayed estimates of demand and service: request
// rates per key, shares of the traffic, smoothed means, tokens per byte. It is
// pure: times come in as nanoseconds since an origin the caller chooses, nothing
// reads a clock. Every type is bounded. A type is not safe for concurrent use;
// its owner serialises.
//
// Rates decays by wall clock: counts are linear, so the snapshots of several
// gateways add up exactly for keys that all of them track. Shares decays by a
// clock that ticks with every request, as VeloxQuant's estimator does. README.md
// says how exact both are.
//
// Reading order: rates.go, then what it stands on: clock.go (decay without
// touching what decays), table.go (rows by key), least.go (which row makes room);
// then snapshot.go, merge.go, shares.go, mean.go, tokens.go.
package estimator
