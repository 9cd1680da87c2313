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
	Requests    []Request // ordered by At
	Notes       []string  // repairs and reshapings, oldest first, for people
}

// Request is one recorded call.
type Request struct {
	At      time.Duration // arrival, counted from the trace's start; never negative
	Input   int           // prompt tokens
	Output  int           // generated tokens
	Blocks  []uint64      // chained ids of the prompt's blocks: equal id i means equal prefix up to and including block i
	Session uint64        // number of the session, from 1; 0 when neither recorded nor inferred
	Line    int           // line of the file that it was read from, from 1
}

// Partial is a format's policy for a last prompt block that is not full.
type Partial int

const (
	// PartialCounted gives it an id of its own: ceil(Input / BlockTokens) ids.
	PartialCounted Partial = iota
	// PartialDropped gives it none: floor(Input / BlockTokens) ids.
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
)

// String names the scope.
func (s Scope) String() string {
	if s == ScopeSession {
		return "session"
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
