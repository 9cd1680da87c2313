package study

// cache is a worker: the blocks of prompts that it computed last. Of blocks used
// at once, later ones of the prompt are dropped first.
type cache struct {
	limit int
	node  []int32 // by block, 0 if absent
	nodes []node  // nodes[0] is the ring's head: next is newest, prev oldest
}

type node struct {
	prev, next int32
	block      uint32
}

func newCache(limit int, blocks uint32) *cache {
	return &cache{limit: limit, node: make([]int32, blocks), nodes: make([]node, 1, limit+1)}
}

// serve computes a prompt and returns how many of its leading blocks were there.
func (c *cache) serve(prompt []uint32) (hits int) {
	for hits < len(prompt) && c.node[prompt[hits]] > 0 {
		hits++
	}
	for i := min(len(prompt), c.limit) - 1; i >= 0; i-- {
		c.touch(prompt[i])
	}
	return hits
}

func (c *cache) touch(block uint32) {
	i := c.node[block]
	switch {
	case i > 0:
		c.unlink(i)
	case len(c.nodes) <= c.limit:
		c.nodes = append(c.nodes, node{})
		i = int32(len(c.nodes) - 1)
	default:
		i = c.nodes[0].prev
		c.unlink(i)
		c.node[c.nodes[i].block] = 0
	}
	head := &c.nodes[0]
	c.nodes[i] = node{prev: 0, next: head.next, block: block}
	c.nodes[head.next].prev = i
	head = &c.nodes[0]
	head.next = i
	c.node[block] = i
}

func (c *cache) unlink(i int32) {
	n := c.nodes[i]
	c.nodes[n.prev].next, c.nodes[n.next].prev = n.next, n.prev
}
