package workload

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// BlockTokens is how many tokens of a prompt one block has.
const BlockTokens = 16

// Prompt says how prompts are put together, in blocks: a template that all have
// in common, the context of the key, and a turn that nobody has seen before.
type Prompt struct{ Template, Context, Turn int }

// Tokens is the length of a prompt.
func (p Prompt) Tokens() int { return (p.Template + p.Context + p.Turn) * BlockTokens }

// Traffic says what is sent. All fields are required.
type Traffic struct {
	Keys     []Key
	Requests int
	CV       float64 // of the gaps between arrivals; 1 is a Poisson process
	Prompt   Prompt
	Output   int // tokens of an answer
	Seed     uint64
}

// Stream is traffic that was drawn but for its rate: at every rate the same
// requests come in the same order, at proportional gaps.
type Stream struct {
	requests []trace.Request
	arrivals []float64 // at one request per second
}

// Draw draws the traffic.
func (t Traffic) Draw() *Stream {
	cumulative, sum := make([]float64, len(t.Keys)), 0.0
	for i, k := range t.Keys {
		sum += k.Share
		cumulative[i] = sum
	}
	rng := stream(t.Seed, streamDraws)
	s := &Stream{requests: make([]trace.Request, t.Requests), arrivals: gaps(t.Requests, t.CV, t.Seed)}
	for i := range s.requests {
		if i > 0 {
			s.arrivals[i] += s.arrivals[i-1]
		}
		at := min(sort.SearchFloat64s(cumulative, sum*rng.Float64()), len(t.Keys)-1)
		session := t.Keys[at].Session
		s.requests[i] = trace.Request{
			Session: session, Input: t.Prompt.Tokens(), Output: t.Output, Blocks: t.blocks(session, i), Line: i + 1,
		}
	}
	return s
}

// What an id of a block stands for.
const (
	kindTemplate = iota + 1
	kindContext
	kindTurn
)

func (t Traffic) blocks(session uint64, row int) []uint64 {
	out := make([]uint64, 0, t.Prompt.Template+t.Prompt.Context+t.Prompt.Turn)
	add := func(kind, of uint64, n int) {
		for i := range n {
			out = append(out, router.Mix(router.Mix(of<<2|kind)+uint64(i)))
		}
	}
	add(kindTemplate, 0, t.Prompt.Template)
	add(kindContext, session, t.Prompt.Context)
	add(kindTurn, t.Seed<<32|uint64(row), t.Prompt.Turn)
	return out
}

// At returns the traffic at a rate in requests per second, which must be above 0.
// Traces of one stream share their blocks.
func (s *Stream) At(rate float64) *trace.Trace {
	t := &trace.Trace{
		Name: fmt.Sprintf("drawn at %g/s", rate), Format: "drawn", BlockTokens: BlockTokens, Partial: trace.PartialDropped,
		Scope: trace.ScopeGlobal, Clock: true, Requests: slices.Clone(s.requests),
	}
	for i := range t.Requests {
		t.Requests[i].At = time.Duration((s.arrivals[i] - s.arrivals[0]) / rate * float64(time.Second))
	}
	return t
}
