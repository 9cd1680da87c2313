// Package probe measures a live worker with an OpenAI-compatible API by a short,
// bounded series of requests, as a calibrate.Run that a profile can be fitted to:
// single prefills of growing length, decoding at several concurrencies with short
// and long contexts, and the same prompt twice, for the prefix cache.
//
// The worker should have nothing else to do meanwhile. Times are the client's, less
// the shortest round trip seen.
//
// Reading order: plan.go (what is asked), probe.go and follow.go (in which order), send.go (one
// request), text.go (prompts), server.go (what the server says of itself).
package probe
