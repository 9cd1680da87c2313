package router

import "time"

// Verdict is what a strategy says about one request.
type Verdict uint8

const (
	Pass   Verdict = iota // no opinion: the next strategy is asked
	Route                 // send it to the ranking's first usable worker
	Wait                  // keep it in the gateway's queue and ask again
	Refuse                // turn it away
)

// Role is the part of a request's work that a placement serves.
type Role uint8

const (
	Serve   Role = iota // the whole request
	Prefill             // the prompt only
	Decode              // the generation only
)

// Placement is one place where a request may run.
type Placement struct {
	Role   Role
	Worker int // index into Input.Workers
	Rank   int // data-parallel rank + 1; 0 leaves the rank to the worker
}

// Hold asks the core to keep the request's key on the worker that serves it,
// and to repeat that choice without asking again.
type Hold struct {
	TTL   time.Duration // idle time after which the key is free; <= 0 means no hold
	Guard Guard         // the hold is skipped while its worker is above the guard
}

// Decision is a strategy's answer to one request. The zero Decision passes.
type Decision struct {
	Verdict Verdict
	// Ranking lists placements in order of preference, without repetition; the
	// core takes the first usable one and the next ones on retries.
	Ranking []Placement
	Hold    Hold
	Writes  []Write // shared facts to store
	// Reason is one or two words for receipts, of a small closed vocabulary.
	Reason string
	// RetryAfter says when to ask again (Wait) or to come back (Refuse); 0 =
	// unknown: after Wait, when a place at a worker becomes free, or after 50 ms.
	RetryAfter time.Duration
}

// FactKey names one shared fact: a family that strategies declare, and a key.
type FactKey struct {
	Family string
	Key    uint64
}

// Fact is the value of a shared fact, as some gateway of the fleet wrote it.
type Fact struct {
	FactKey
	Value []byte
}

// Write stores a shared fact for a time.
type Write struct {
	Fact
	TTL time.Duration // > 0
}
