// Package gateway is the HTTP edge of gatewayd: it accepts OpenAI-compatible
// requests, peeks at their bodies once, asks a pool for a worker, forwards the
// bytes and relays the answer as it comes.
//
// Reading order: server.go and operation.go (routes), listen.go and patient.go
// (protocols and limits for clients), serve.go and running.go (the life of a request
// at this edge, and all that run), body.go, peek.go, form.go and affinity.go (what is
// read of a request), edit.go (what is changed in it), attempt.go, send.go, watch.go
// and budget.go (attempts at workers), relay.go (an answer), events.go, typed.go,
// usage.go and plain.go (what is read of it), unasked.go (what is taken out of it),
// headers.go, errors.go, models.go.
package gateway
