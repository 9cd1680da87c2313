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
// The cost of a request depends neither on the size of a block nor on the number
// of steps: blocks with one fate are one run of the pool, and steps that differ
// only in their context are booked together. The tests hold both to a plain
// engine that knows one block and one step at a time.
//
// Reading order: profile.go (what a step costs), request.go (what goes in and
// out), names.go, pool.go, index.go, find.go, lru.go, holding.go and protect.go
// (the KV cache), engine.go and queue.go (arrival), plan.go (who takes part in a
// step), run.go (many decode steps at once), finish.go (what a step brought),
// ending.go (cancel, flush, crash), stats.go and energy.go.
package engine
