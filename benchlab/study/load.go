package study

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// Load says how recorded sessions become traffic. Zero fields take the default in
// their comment.
type Load struct {
	Active float64       // sessions under way at a time, on average; 24
	Copies int           // of each session, with prompts of their own; 3
	Turns  int           // least requests of a session to be used; 5
	MaxGap time.Duration // to which longer gaps between requests are shortened; 60 s
	Seed   uint64        // of the starts
}

func (l Load) withDefaults() Load {
	if l.Active <= 0 {
		l.Active = 24
	}
	if l.Copies <= 0 {
		l.Copies = 3
	}
	if l.Turns <= 0 {
		l.Turns = 5
	}
	if l.MaxGap <= 0 {
		l.MaxGap = time.Minute
	}
	return l
}

// Traffic is requests in order of arrival.
type Traffic struct {
	Sessions    int
	Requests    []Request
	blockTokens int
	blocks      uint32 // ids of blocks are below it
	salt        uint64 // of the sessions' keys
}

// Request is one turn of a session.
type Request struct {
	At      time.Duration
	Session int // from 0
	Input   int // prompt tokens
	blocks  []uint32
}

// Sessions makes traffic of a recording with sessions whose ids are their own.
// Each copy of a session starts at a moment drawn uniformly from a span in which
// as many are active as asked for. Sub-agents are left out. It fails when no
// session is long enough.
func Sessions(t *trace.Trace, l Load) (*Traffic, error) {
	l = l.withDefaults()
	sessions := turns(t, l)
	if len(sessions) == 0 {
		return nil, fmt.Errorf("recording %q has no session of %d requests or more", t.Name, l.Turns)
	}
	var busy time.Duration
	for _, s := range sessions {
		busy += s[len(s)-1].At * time.Duration(l.Copies)
	}
	span := max(1, int64(float64(busy)/l.Active))
	rng := rand.New(rand.NewPCG(l.Seed, 0x7374756479)) // "study"
	out := &Traffic{blockTokens: t.BlockTokens, salt: router.Mix(l.Seed)}
	for range l.Copies {
		for _, s := range sessions {
			out.add(s, time.Duration(rng.Int64N(span)))
		}
	}
	slices.SortStableFunc(out.Requests, func(a, b Request) int { return int(a.At - b.At) })
	return out, nil
}

// turns lists the requests of each session, in time from its start.
func turns(t *trace.Trace, l Load) (sessions [][]trace.Request) {
	place := map[uint64]int{}
	last := map[uint64]time.Duration{}
	for _, r := range t.Requests {
		if r.Agent || r.Session == 0 {
			continue
		}
		i, ok := place[r.Session]
		if !ok {
			i = len(sessions)
			place[r.Session] = i
			sessions = append(sessions, nil)
		}
		at := r.At
		if s := sessions[i]; len(s) == 0 {
			r.At = 0
		} else {
			r.At = s[len(s)-1].At + min(at-last[r.Session], l.MaxGap)
		}
		last[r.Session] = at
		sessions[i] = append(sessions[i], r)
	}
	return slices.DeleteFunc(sessions, func(s []trace.Request) bool { return len(s) < l.Turns })
}

// add adds a copy of a session with blocks of its own.
func (t *Traffic) add(session []trace.Request, start time.Duration) {
	ids := map[uint64]uint32{}
	for _, r := range session {
		blocks := make([]uint32, len(r.Blocks))
		for i, b := range r.Blocks {
			id, ok := ids[b]
			if !ok {
				id = t.blocks
				ids[b] = id
				t.blocks++
			}
			blocks[i] = id
		}
		t.Requests = append(t.Requests, Request{At: start + r.At, Session: t.Sessions, Input: r.Input, blocks: blocks})
	}
	t.Sessions++
}
