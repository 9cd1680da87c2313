// Package gateway is the HTTP edge of gatewayd: it accepts OpenAI-compatible
// requests, peeks at their bodies once, asks a pool for a worker, forwards the
// bytes and relays the answer as it comes.
//
// Reading order: server.go (routes), patient.go (limits for clients), serve.go
// (the life of a request at this edge), body.go, peek.go and affinity.go (what is
// read of a request), attempt.go, send.go and watch.go (one attempt at a worker),
// relay.go (its answer), events.go, usage.go and plain.go (what is read of it),
// headers.go, errors.go, models.go.
package gateway
