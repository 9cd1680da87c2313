// Package gateway is the HTTP edge of gatewayd: it accepts OpenAI-compatible
// requests, peeks at their bodies once, asks a pool for a worker, forwards the
// bytes and relays the answer as it comes.
//
// Reading order: server.go (routes), serve.go (the life of a request at this
// edge), peek.go and affinity.go (what is read from a body), attempt.go and
// relay.go (one worker's answer), events.go (what is read from a stream),
// headers.go, errors.go.
package gateway
