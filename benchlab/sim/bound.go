package sim

import (
	"container/heap"
	"fmt"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/trace"
)

// Bound is a share of prompt tokens that no routing of the trace can have served
// from prefix caches.
type Bound struct {
	Name  string  // infinite_cache or clairvoyant
	About string  // what it assumes, for people
	KVHit float64 // 0 ... 1, of the prompt tokens of all requests that fit some worker
}

// Bounds returns the two bounds of a trace and fleet. Both hold for requests that
// workers begin in the order of the trace's rows; under load workers begin some
// earlier than others, which can win or lose a little. They know nothing of
// faults.
func Bounds(c Config) ([]Bound, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	block, capacity := 0, 0
	for i := range c.Workers {
		p := &c.Workers[i].Profile
		size := p.BlockTokens
		if size == 0 {
			size = engine.DefaultBlockTokens
		}
		if block == 0 || size < block {
			block = size
		}
		capacity += p.KVBlocks * size
	}
	if size := c.Trace.BlockTokens; size > 0 && size%block != 0 {
		return nil, fmt.Errorf("simulation: blocks of %d tokens of trace %s cannot be cut into blocks of %d; give a divisor", size, c.Trace.Name, block)
	}
	t := grow(c.Trace, block, c.fits)
	return []Bound{
		{"infinite_cache", "one prefix cache of all requests that never drops anything", t.share(t.replay(t.prompt))},
		{"clairvoyant", fmt.Sprintf("one prefix cache as large as those of all workers together, %d tokens, that knows the future and drops what is wanted again last", capacity), t.share(t.replay(int64(capacity)))},
	}, nil
}

// fits reports whether some worker would take a request.
func (c *Config) fits(r *trace.Request) bool {
	for i := range c.Workers {
		p := &c.Workers[i].Profile
		size := p.BlockTokens
		if size == 0 {
			size = engine.DefaultBlockTokens
		}
		if r.Input+max(r.Output-1, 0) <= p.KVBlocks*size && (p.MaxContext == 0 || r.Input+r.Output <= p.MaxContext) {
			return true
		}
	}
	return false
}

// replay serves the trees's rows from one cache of capacity tokens that always
// drops what is wanted again last (Belady's MIN, which no cache of that size can
// beat), and returns the tokens served. All blocks of a node are wanted again at
// the same time, so a node may be there in part: its head.
func (t *tree) replay(capacity int64) (served int64) {
	next := t.nextUses()
	here := make([]int32, len(t.nodes)) // tokens in the cache
	stamp := make([]int32, len(t.nodes))
	var wanted wishes
	used, k := int64(0), 0
	for row := range t.rows {
		limit := int64(t.reusable(row))
		whole := true
		hit := int64(0)
		for node := range t.path(row) {
			n := &t.nodes[node]
			if whole {
				hit += int64(here[node])
				whole = here[node] == n.tokens
			}
			used -= int64(here[node])
			here[node] = 0
			stamp[node]++
			if next[k] >= 0 {
				here[node] = n.tokens
				used += int64(n.tokens)
				heap.Push(&wanted, wish{next[k], n.depth, node, stamp[node]})
			}
			k++
		}
		served += min(hit, limit)
		for used > capacity {
			w := &wanted[0]
			if w.stamp != stamp[w.node] {
				heap.Pop(&wanted)
				continue
			}
			drop := min(used-capacity, int64(here[w.node]))
			used -= drop
			if here[w.node] -= int32(drop); here[w.node] == 0 {
				heap.Pop(&wanted)
			}
		}
	}
	return served
}

// nextUses says for each row and node of its path, in order, which row comes
// along there next; -1 if none does.
func (t *tree) nextUses() []int32 {
	starts := make([]int, len(t.rows)+1)
	for row := range t.rows {
		starts[row+1] = starts[row]
		for range t.path(row) {
			starts[row+1]++
		}
	}
	next := make([]int32, starts[len(t.rows)])
	last := make([]int32, len(t.nodes))
	for i := range last {
		last[i] = -1
	}
	for row := len(t.rows) - 1; row >= 0; row-- {
		k := starts[row]
		for node := range t.path(row) {
			next[k] = last[node]
			last[node] = int32(row)
			k++
		}
	}
	return next
}

// wish is a node that is wanted again.
type wish struct {
	next, depth int32
	node, stamp int32
}

// wishes are a heap: what is wanted again last is first, and of a path its end.
type wishes []wish

func (w wishes) Len() int { return len(w) }
func (w wishes) Less(i, j int) bool {
	if w[i].next != w[j].next {
		return w[i].next > w[j].next
	}
	return w[i].depth > w[j].depth
}
func (w wishes) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *wishes) Push(x any)   { *w = append(*w, x.(wish)) }
func (w *wishes) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	*w = (*w)[:last]
	return x
}
