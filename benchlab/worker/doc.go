// Package worker is an emulated model server: benchlab/engine in wall time
// behind the HTTP API of vLLM. It answers chat, completions and embeddings with
// the timing of the engine's profile, streams token by token, and exposes
// vLLM's metrics, so that a gateway cannot tell it from a real server by
// anything but the sense of its words.
//
// One goroutine, the actor, owns the engine; handlers send it closures and wait
// for progress of their job. Steps follow the engine's own schedule: a timer
// that fires late delays tokens, but not the steps after it.
//
// Text becomes tokens by a stated rule: the canonical text (for chat: tools,
// then per message role, NUL and text, then "assistant" and NUL) is cut every
// four bytes. KV blocks are an xxhash64 chain over the bytes of BlockTokens
// tokens, so equal prefixes give equal blocks, across workers too. An answer
// consists of deterministic words of four bytes, one per token; a client that
// sends it back as the assistant's message finds it in the prefix cache.
//
// Reading order: config.go, server.go, actor.go and job.go (the engine's side),
// guard.go, request.go, prompt.go and text.go (what comes in), chat.go,
// completion.go, embed.go, stream.go and reply.go (what goes out), operate.go,
// metrics.go.
package worker
