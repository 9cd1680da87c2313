package trace

import (
	"fmt"
	"slices"
)

// Preparation says how a recorded trace becomes traffic to replay. The zero value
// is a good start.
type Preparation struct {
	Seed     uint64        // draws arrivals inside the tick and starts of sessions; never rows or lengths
	Sessions Superposition // for traces without a clock; its Seed is not used
}

// Prepare does what a recording needs before it can be replayed, and tells each
// step in Notes: empty prompts get a token, arrivals of a coarse clock are spread
// inside its tick, sessions without a common clock are superposed, sessions that
// are not recorded are inferred. Cut by rows and Scale come after it.
func (t *Trace) Prepare(p Preparation) *Trace {
	p.Sessions.Seed = p.Seed
	return t.fillPrompts().Spread(p.Seed).Superpose(p.Sessions).InferSessions(0)
}

// fillPrompts gives empty prompts one token: no engine takes a prompt without any.
func (t *Trace) fillPrompts() *Trace {
	out, empty := t.Requests, 0
	for i := range t.Requests {
		if t.Requests[i].Input > 0 {
			continue
		}
		if empty++; empty == 1 {
			out = slices.Clone(out)
		}
		out[i].Input = 1
		if t.Scope != ScopeNone && t.Partial.ids(1, t.BlockTokens) == 1 {
			out[i].Blocks = []uint64{mix(0x656d707479, 0)} // "empty": all of them are equal
		}
	}
	if empty == 0 {
		return t
	}
	return t.with(out, fmt.Sprintf("empty prompts: %d; each taken as one token, since engines take none without any", empty))
}
