// Package engine is a deterministic model of one LLM inference engine: paged KV
// cache with prefix reuse, continuous batching with chunked prefill, preemption
// by recompute, and a step-time and power model whose coefficients come from
// measurements. It follows the scheduler of vLLM V1.
//
// The model does no I/O and reads no clock. Time is a time.Duration since an
// origin of the caller's choice, and only ever comes in as an argument, so the
// same engine serves a discrete-event simulator and a server in wall time:
//
//	e, err := engine.New(profile)
//	err = e.Submit(now, engine.Request{ID: 1, PromptTokens: 900, OutputTokens: 64, Blocks: hashes})
//	end, busy := e.Start(now, now)   // one step; a later horizon covers many
//	events := e.Finish(end)          // who got a first token, who ended
//
// Equal calls give equal results, to the bit. An Engine is not safe for
// concurrent use: one goroutine owns it.
//
// Reading order: profile.go (what a step costs), request.go (what goes in and
// out), pool.go and index.go (the KV cache), engine.go and queue.go (arrival),
// plan.go (who takes part in a step), run.go (many decode steps at once),
// finish.go (what a step brought), ending.go (cancel, flush, crash), stats.go.
package engine
