// Package pool drives one router.Core per base model with real time: it asks
// strategies in their processes, has plans made and installed, keeps what
// gateways share in step with the state store, and hands workers to requests.
// It knows no HTTP, so that another edge can stand beside the HTTP one.
//
// Reading order: pool.go (one core under one lock), acquire.go (a request's way
// to a worker), planning.go, sync.go (shared state), set.go (all pools and the
// strategies' processes).
package pool
