package trace

import (
	"slices"
	"time"
)

// Trace is recorded traffic in arrival order.
type Trace struct {
	Name        string    // what the reader was told the input is called
	Origin      string    // where it comes from and under which licence; empty when unknown
	Format      string    // name of the format it was read from
	BlockTokens int       // prompt tokens that one block id stands for
	Partial     Partial   // what a last block that is not full has
	Scope       Scope     // where equal ids mean equal prefixes
	Clock       bool      // all requests were timed by one clock; false: At is drawn, or counts from the start of each session
	Requests    []Request // ordered by At
	Notes       []string  // repairs and reshapings, oldest first, for people
	File        File      // what was read
	Facts       Facts     // what the file says and requests do not keep; empty once rows were left out
}

// Request is one recorded call.
type Request struct {
	At      time.Duration // arrival, counted from the trace's start; never negative
	Input   int           // prompt tokens
	Output  int           // generated tokens
	Blocks  []uint64      // chained ids of the prompt's blocks: equal id i means equal prefix up to and including block i
	Session uint64        // number of the session, from 1; 0 when neither recorded nor inferred
	Line    int           // line of the file that it was read from, from 1

	// After are the rows, as indices into Trace.Requests, all smaller than this
	// one's own, whose answers must have come before this request can be sent: the
	// turn before it, or several where parallel sub-agents join. Nil when there is
	// none or none is known.
	After []int32
	// Think is the time from the last of those answers to the sending of this
	// request; 0 without After. Never negative. Where a format does not say how long
	// answers took, it is the time since their requests arrived (Notes say so).
	Think time.Duration

	ID     string // the recorded request id, empty if there is none
	Tenant string // who sent it, where the format records that (perhaps as a hash)
	Model  string // the model asked for, where the format records that

	// Preamble is how many leading blocks (tools and system prompt) other sessions
	// would have in common with this one if ids were global; Superpose makes them
	// so. Agent says that a sub-agent asked, whose preamble is another one.
	Preamble int32
	Agent    bool
}

// Partial is a format's policy for a last prompt block that is not full.
type Partial int

const (
	// PartialCounted gives it an id of its own: ceil(Input / BlockTokens) ids.
	PartialCounted Partial = iota
	// PartialDropped gives it none: floor(Input / BlockTokens) ids, or fewer where
	// the rest of the prompt is not identified; what has no id is never reused.
	PartialDropped
)

// String names the policy.
func (p Partial) String() string {
	if p == PartialDropped {
		return "partial last block dropped"
	}
	return "partial last block counted"
}

// ids is how many block ids a prompt of this many tokens has.
func (p Partial) ids(tokens, blockTokens int) int {
	n := tokens / blockTokens
	if p == PartialCounted && tokens%blockTokens != 0 {
		n++
	}
	return n
}

// Scope says between which requests equal block ids mean equal prefixes.
type Scope int

const (
	// ScopeGlobal compares ids across the whole trace.
	ScopeGlobal Scope = iota
	// ScopeSession compares ids inside one session only.
	ScopeSession
	// ScopeNone: prompts have no ids, and nothing says that two have anything in
	// common.
	ScopeNone
)

// String names the scope.
func (s Scope) String() string {
	switch s {
	case ScopeSession:
		return "session"
	case ScopeNone:
		return "none"
	}
	return "global"
}

// salt separates the ids of sessions from each other where their scope demands it.
func (s Scope) salt(session uint64) uint64 {
	if s == ScopeSession {
		return mix(session, 1)
	}
	return 0
}

// full is how many of r's block ids stand for full blocks.
func (t *Trace) full(r *Request) int {
	return min(r.Input/t.BlockTokens, len(r.Blocks))
}

// with is the trace with other requests and one note more.
func (t *Trace) with(requests []Request, note string) *Trace {
	c := *t
	c.Requests = requests
	c.Notes = append(slices.Clip(t.Notes), note)
	return &c
}
