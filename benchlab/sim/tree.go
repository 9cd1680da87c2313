package sim

import (
	"iter"
	"slices"

	"gatewayd/benchlab/trace"
)

// tree is the prefix tree of a trace's prompts: each node is a run of blocks that
// the same rows go along.
type tree struct {
	trace  *trace.Trace
	block  int // tokens of the caches' blocks
	rows   []stem
	nodes  []node
	prompt int64 // tokens of all prompts that fit
}

// stem is what one row added to the tree.
type stem struct {
	parent int32 // the row whose stem it branches off; -1 for the root
	shared int32 // blocks that it has in common with that row's prompt
	first  int32 // its nodes are first ... first+count-1
	count  int32
	fits   bool
}

type node struct {
	until  int32 // block at which it ends
	depth  int32 // node of its path, from 0
	tokens int32 // in full blocks of the cache
}

// grow builds the tree of the rows that some worker would take.
func grow(t *trace.Trace, block int, fits func(*trace.Request) bool) *tree {
	out := &tree{trace: t, block: block, rows: make([]stem, len(t.Requests))}
	owner := newRowOf(hint(t)) // by block: the row that showed it first
	cuts := make([][]int32, len(t.Requests))
	for row := range t.Requests {
		r, s := &t.Requests[row], &out.rows[row]
		s.parent = -1
		if s.fits = fits(r); !s.fits {
			continue
		}
		out.prompt += int64(r.Input)
		salt := scoped(t, r)
		n := owner.leading(r.Blocks, salt)
		if n > 0 {
			s.parent, _ = owner.get(r.Blocks[n-1] ^ salt)
			s.shared = int32(n)
			cuts[s.parent] = append(cuts[s.parent], int32(n))
		}
		for _, b := range r.Blocks[n:] {
			owner.put(b^salt, int32(row))
		}
		if n < len(r.Blocks) {
			cuts[row] = append(cuts[row], int32(len(r.Blocks)))
		}
	}
	for row := range out.rows {
		out.cut(row, cuts[row])
	}
	return out
}

// cut makes a stem's nodes: they end where rows branch off.
func (t *tree) cut(row int, ends []int32) {
	s := &t.rows[row]
	s.first = int32(len(t.nodes))
	slices.Sort(ends)
	from := s.shared
	depth := int32(0)
	if s.parent >= 0 {
		depth = t.upTo(s.parent, s.shared) + 1
	}
	for _, until := range slices.Compact(ends) {
		t.nodes = append(t.nodes, node{until, depth, t.tokens(row, until) - t.tokens(row, from)})
		from = until
		depth++
	}
	s.count = int32(len(t.nodes)) - s.first
}

// tokens are those of a row's first blocks, in full blocks of the cache.
func (t *tree) tokens(row int, blocks int32) int32 {
	r := &t.trace.Requests[row]
	return int32(min(int(blocks)*t.trace.BlockTokens, r.Input) / t.block * t.block)
}

// upTo is the depth of the node of a row's own stem that ends at a block.
func (t *tree) upTo(row, until int32) int32 {
	s := &t.rows[row]
	for i := s.first; i < s.first+s.count; i++ {
		if t.nodes[i].until == until {
			return t.nodes[i].depth
		}
	}
	return -1
}

// path yields the nodes along a row's prompt, root first.
func (t *tree) path(row int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		var stems, ends []int32
		end := int32(len(t.trace.Requests[row].Blocks))
		for at := int32(row); at >= 0 && t.rows[at].fits; at = t.rows[at].parent {
			stems, ends = append(stems, at), append(ends, end)
			end = t.rows[at].shared
		}
		for i := len(stems) - 1; i >= 0; i-- {
			s := &t.rows[stems[i]]
			for n := s.first; n < s.first+s.count && t.nodes[n].until <= ends[i]; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// reusable are the tokens of a row's prompt that a cache can serve.
func (t *tree) reusable(row int) int {
	return (t.trace.Requests[row].Input - 1) / t.block * t.block
}

// share is that of tokens in all prompts.
func (t *tree) share(tokens int64) float64 {
	if t.prompt == 0 {
		return 0
	}
	return float64(tokens) / float64(t.prompt)
}
