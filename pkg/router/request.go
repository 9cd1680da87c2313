package router

import (
	"math"
	"time"
)

// mostTokens bounds counts of tokens, so that sums over requests do not overflow.
const mostTokens = 1 << 30

// Request is what strategies learn of a request. It never carries prompt text.
// A count of tokens that is out of range counts as the nearest in it.
type Request struct {
	// ID names the request in logs and receipts; strategies must not route by it.
	ID string
	// Model is the base model as the pool names it, Adapter the LoRA adapter or "".
	Model, Adapter string
	// Tenant is the accounting unit the request belongs to, or "".
	Tenant string
	// Key is the affinity key: a 64-bit hash of model, adapter and the session,
	// tenant, prompt_cache_key or prompt prefix. Zero means "no affinity".
	Key uint64
	// PromptTokens is the estimated length of the prompt in tokens, 0..2^30.
	PromptTokens int
	// MaxTokens is the client's bound on generated tokens; 0 if it gave none.
	MaxTokens int
	// Priority orders waiting requests: higher is served first, 0 is normal.
	Priority int
	// Blocks are chained hashes of the prompt's full blocks: equal hash i means
	// equal prompts up to and including block i.
	Blocks []uint64
	// BlockTokens is the (estimated) number of tokens in one block.
	BlockTokens int
}

func (r Request) bounded() Request {
	r.PromptTokens, r.MaxTokens, r.BlockTokens = tokens(r.PromptTokens), tokens(r.MaxTokens), tokens(r.BlockTokens)
	return r
}

// tokens is the nearest count of tokens in range.
func tokens(n int) int { return min(max(n, 0), mostTokens) }

// Usage is what serving a request took, as the worker reported it. A figure out
// of range counts as the nearest in it.
type Usage struct {
	PromptTokens int // tokens in the prompt
	OutputTokens int // tokens generated
	CachedTokens int // prompt tokens served from the worker's prefix cache; -1 if not reported
	Joules       float64
}

func (u Usage) bounded() Usage {
	u.PromptTokens, u.OutputTokens = tokens(u.PromptTokens), tokens(u.OutputTokens)
	u.CachedTokens = min(max(u.CachedTokens, -1), mostTokens)
	if !(u.Joules >= 0 && u.Joules < math.Inf(1)) {
		u.Joules = 0
	}
	return u
}

// Outcome is how a request ended.
type Outcome uint8

const (
	Completed Outcome = iota // the worker's whole answer was relayed
	Failed                   // the worker failed and the client got an error
	Cancelled                // the client went away
	Refused                  // no worker was found for it
	Expired                  // its ending was never reported; the core released it
)

// String returns the outcome's name as used in metrics.
func (o Outcome) String() string {
	return name(uint8(o), "completed", "failed", "cancelled", "refused", "expired")
}

// name returns the i-th name, or "unknown".
func name(i uint8, names ...string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "unknown"
}

// Ending closes a request's life.
type Ending struct {
	Outcome Outcome
	Usage   Usage // zero unless the worker reported it
}

// RefusalCode says why no worker was given to a request.
type RefusalCode uint8

const (
	NoWorker   RefusalCode = iota + 1 // no worker of the pool is up
	QueueFull                         // every worker is at its limit and so is the queue
	WaitedLong                        // it waited in the queue as long as allowed
	ByStrategy                        // a strategy refused it
	NoAttempt                         // all attempts failed
	Paused                            // every worker that could serve it has asked for a pause
)

// String returns the code's name as used in metrics and error bodies.
func (c RefusalCode) String() string {
	return name(uint8(c), "", "no_worker", "queue_full", "queue_timeout", "refused_by_strategy", "attempts_exhausted", "workers_pause")
}

// Refusal says why no worker was given to a request and when to come back.
type Refusal struct {
	Code       RefusalCode
	Reason     string
	RetryAfter time.Duration // 0: unknown
}
