package engine

import (
	"errors"
	"time"
)

// Errors of Submit, to be tested with errors.Is.
var (
	// ErrTooLarge refuses a request whose prompt and output never fit the KV cache.
	ErrTooLarge = errors.New("request never fits the KV cache")
	// ErrContext refuses a request whose prompt and output exceed the profile's
	// MaxContext.
	ErrContext = errors.New("request exceeds the context of the model")
	// ErrInvalid refuses a request that contradicts itself.
	ErrInvalid = errors.New("invalid request")
	// ErrDuplicate refuses a request whose ID is in the engine already.
	ErrDuplicate = errors.New("request ID is in use")
)

// Request is one prompt and the length of its answer.
type Request struct {
	ID           uint64
	PromptTokens int // at least 1
	OutputTokens int // tokens to generate; 0 is prefill only, as for an embedding

	// Owner is the affinity key of the request, for Protect; 0 is none.
	Owner uint64

	// BlockTokens is how many tokens one id of Blocks and OutputBlocks stands for:
	// a multiple of the profile's BlockTokens; 0 is the profile's own. An id of
	// more stands for several blocks of the engine. Requests share content only if
	// their BlockTokens are equal.
	BlockTokens int
	// Blocks are chained ids of the prompt's blocks: equal id i means an equal
	// prefix up to and including block i. Missing ones are not reusable; one for a
	// partial last block names as many blocks of the engine as are full. The engine
	// reads the slice until the request ends and never changes it.
	Blocks []uint64
	// OutputBlocks continue Blocks over the answer: number i is the id of block
	// PromptTokens/BlockTokens + i. It names the blocks of the engine that the
	// prompt alone does not fill. Without them the answer is not reusable.
	OutputBlocks []uint64
}

// EventKind says what happened to a request.
type EventKind uint8

const (
	// FirstToken is the end of the step that produced the first output token.
	FirstToken EventKind = iota + 1
	// Finished is the end of the step that produced the last output token, or of
	// the prefill when none were asked for.
	Finished
)

// String returns "first token" or "finished".
func (k EventKind) String() string {
	switch k {
	case FirstToken:
		return "first token"
	case Finished:
		return "finished"
	}
	return "unknown"
}

// Event is one thing that a step brought. It happened when the step ended.
type Event struct {
	ID          uint64
	Kind        EventKind
	Tokens      int           // output tokens so far
	Cached      int           // prompt tokens that the prefix cache supplied when the request was first admitted
	Admitted    time.Duration // when the request first left the queue
	Preemptions int           // how often it lost its blocks so far
}
