// Package pool drives one router.Core per base model with real time: it asks
// strategies in their processes, has plans made and installed, keeps what
// gateways share in step with the state store, and hands workers to requests.
// It knows no HTTP, so that another edge can stand beside the HTTP one.
//
// Reading order: pool.go (one core under one lock), acquire.go and walk.go (a
// request's way to a worker), fleet.go, planning.go, sync.go and share.go (what
// gateways share), set.go (all pools), processes.go and remote.go (the
// strategies' processes), loads.go.
package pool
