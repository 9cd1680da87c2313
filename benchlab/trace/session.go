package trace

import (
	"fmt"
	"slices"
)

// InferSessions numbers the sessions of a trace that does not record them. A
// request follows up the earlier request whose full blocks, at least minBlocks of
// them, are the longest prefix of its own full blocks (of several, the latest),
// and belongs to its session; any other begins a new one. With minBlocks 0 it is
// 2 if all requests share their first block (else a common preamble would join
// them all) and 1 otherwise. A trace with session numbers, or with ids that mean
// something inside a session only, is returned as it is.
func (t *Trace) InferSessions(minBlocks int) *Trace {
	if t.sessions() > 0 || t.Scope == ScopeSession {
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
	return t.with(out, fmt.Sprintf("%d sessions inferred from shared prefixes of at least %d full blocks", n, minBlocks))
}

func (t *Trace) sessionDepth() int {
	for i := range t.Requests {
		b := t.Requests[i].Blocks
		if len(b) == 0 || b[0] != t.Requests[0].Blocks[0] {
			return 1
		}
	}
	return 2
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
