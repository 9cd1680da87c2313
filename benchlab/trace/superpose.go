package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Superposition says how sessions without a common clock become one fleet's
// traffic. The zero value is a good start.
type Superposition struct {
	Seed uint64
	// Window is the time in which sessions start: each at a moment drawn uniformly,
	// that is a Poisson process of which the number of sessions is known. Zero is an
	// hour.
	Window time.Duration
	// MaxThink shortens longer think times to it, and moves what follows; zero keeps
	// them as recorded.
	MaxThink time.Duration
	// Apart keeps the tools and the system prompt of each session its own. Otherwise
	// all sessions begin alike, as far as each one's tools and system prompt reach:
	// the files say how long these are, not which are equal, so this is the most that
	// sessions can have in common.
	Apart bool
}

const defaultWindow = time.Hour

// Superpose draws a start for each session of a trace without a clock and makes
// its ids global. Equal seeds give equal traffic. A trace with a clock, or without
// sessions, is returned as it is.
func (t *Trace) Superpose(o Superposition) *Trace {
	if t.Clock || t.Scope != ScopeSession {
		return t
	}
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	o.Window = min(o.Window, maxMillis*time.Millisecond)
	out := slices.Clone(t.Requests)
	capped := 0
	if o.MaxThink > 0 {
		capped = capThinks(out, o.MaxThink)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x7374617274)) // "start": a stream of its own
	starts := map[uint64]time.Duration{}
	for _, s := range sessionsOf(out) {
		starts[s] = time.Duration(rng.Int64N(int64(o.Window)))
	}
	for i := range out {
		out[i].At += starts[out[i].Session]
	}
	rewrite(out, func(r *Request) func(int, uint64) uint64 {
		salt, common, kind := t.Scope.salt(r.Session), int(r.Preamble), kindSalt(r.Agent)
		if o.Apart {
			common = 0
		}
		return func(k int, id uint64) uint64 {
			if k < common {
				return mix(kind, uint64(k))
			}
			return mix(id^salt, 0)
		}
	})
	out, _ = sorted(out)
	c := t.with(out, fmt.Sprintf("%d sessions start at moments drawn uniformly over %v, seed %d", len(starts), o.Window, o.Seed))
	c.Scope = ScopeGlobal
	if capped > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d think times shortened to %v", capped, o.MaxThink))
	}
	if o.Apart {
		c.Notes = append(c.Notes, "tools and system prompts are each session's own")
	} else {
		c.Notes = append(c.Notes, "all sessions begin with the same tools and system prompt, as far as each one's reach, and so do all sub-agents: the most that they can have in common")
	}
	c.fromZero()
	return c
}

// kindSalt tells the common beginning of sub-agents from that of sessions.
func kindSalt(agent bool) uint64 {
	if agent {
		return mix(0, 7)
	}
	return mix(0, 6)
}

// sessionsOf lists the sessions in order of their numbers.
func sessionsOf(rows []Request) (list []uint64) {
	seen := map[uint64]bool{}
	for i := range rows {
		if s := rows[i].Session; !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

// capThinks shortens think times and moves each row as far as the latest of those
// that it waits for, and by what its own think time lost. It counts the think
// times.
func capThinks(rows []Request, most time.Duration) (capped int) {
	moved := make([]time.Duration, len(rows))
	for i := range rows {
		r := &rows[i]
		if len(r.After) == 0 {
			continue
		}
		lost := max(0, r.Think-most)
		if lost > 0 {
			capped++
			r.Think = most
		}
		least, floor := time.Duration(-1), time.Duration(0)
		for _, a := range r.After {
			floor = max(floor, rows[a].At)
			if least < 0 || moved[a] < least {
				least = moved[a]
			}
		}
		at := max(floor, r.At-least-lost)
		moved[i] = r.At - at
		r.At = at
	}
	return capped
}
