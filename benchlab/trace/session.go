package trace

import (
	"fmt"
	"slices"
)

// InferSessions numbers the sessions of a trace that does not record them. A
// request follows up the earlier request whose full blocks, at least minBlocks of
// them, are the longest prefix of its own full blocks (of several, the latest),
// and belongs to its session; any other begins a new one. With minBlocks 0 it is
// 2 if nearly all requests share their first block (else a common preamble would
// join them all) and 1 otherwise. Nothing says how long answers took, so Think is the
// time between arrivals. A trace with session numbers, or without ids that mean
// the same everywhere, is returned as it is.
func (t *Trace) InferSessions(minBlocks int) *Trace {
	if t.sessions() > 0 || t.Scope != ScopeGlobal {
		return t
	}
	if minBlocks <= 0 {
		minBlocks = t.sessionDepth()
	}
	out := slices.Clone(t.Requests)
	tails := make(map[uint64]int, len(out)) // last full block -> latest request that ends with it
	var n uint64
	for i := range out {
		blocks := out[i].Blocks[:t.full(&out[i])]
		for k := len(blocks); k >= minBlocks; k-- {
			if parent, ok := tails[blocks[k-1]]; ok {
				out[i].Session = out[parent].Session
				out[i].After, out[i].Think = []int32{int32(parent)}, out[i].At-out[parent].At
				break
			}
		}
		if out[i].Session == 0 {
			n++
			out[i].Session = n
		}
		if len(blocks) >= minBlocks {
			tails[blocks[len(blocks)-1]] = i
		}
	}
	return t.with(out, fmt.Sprintf("%d sessions inferred from shared prefixes of at least %d full blocks; a follow-up's think time is the time between arrivals", n, minBlocks))
}

// sessionDepth is 2 if one block begins at least nine of ten prompts: the few
// others, such as empty ones, do not make it mean more.
func (t *Trace) sessionDepth() int {
	const share = 0.9
	first := map[uint64]int{}
	prompts, most := 0, 0
	for i := range t.Requests {
		if b := t.Requests[i].Blocks; len(b) > 0 {
			prompts++
			first[b[0]]++
			most = max(most, first[b[0]])
		}
	}
	if prompts > 0 && float64(most) >= share*float64(prompts) {
		return 2
	}
	return 1
}

// sessions is the number of distinct session numbers.
func (t *Trace) sessions() int {
	seen := map[uint64]struct{}{}
	for i := range t.Requests {
		if s := t.Requests[i].Session; s != 0 {
			seen[s] = struct{}{}
		}
	}
	return len(seen)
}
