package engine

// pool holds the KV blocks. A block is used while sequences refer to it, and
// otherwise waits in one queue, oldest first, from which new blocks are taken.
// A waiting block that still has the hash of its content is cached, one without
// is free. As in vLLM both kinds wait in the same queue, and a sequence gives
// its blocks back last to first, so that tails are evicted before heads.
//
// A hash names at most one block. A block computed twice keeps its name with
// the block in use; if the old one only waits, the new one takes the name.
type pool struct {
	blocks  []block // the last one is the anchor of the queue
	names   index
	waiting int    // blocks in the queue
	cached  int    // waiting blocks with a hash
	changes uint64 // counts releases and new names: what may let a blocked request in
}

type block struct {
	hash       uint64
	prev, next int32 // in the queue
	chained    int32 // next block in the index chain
	refs       int32
	hashed     bool
}

func newPool(size int) *pool {
	p := &pool{blocks: make([]block, size+1), names: newIndex(size)}
	p.reset()
	return p
}

// reset makes every block free.
func (p *pool) reset() {
	p.names.clear()
	clear(p.blocks)
	anchor := p.anchor()
	p.blocks[anchor].prev, p.blocks[anchor].next = anchor, anchor
	p.waiting, p.cached = 0, 0
	for b := range anchor {
		p.enqueue(b)
	}
	p.changes++
}

// flush forgets all content; blocks in use stay in use, without a name.
func (p *pool) flush() {
	p.names.clear()
	for i := range p.blocks {
		p.blocks[i].hashed = false
	}
	p.cached = 0
}

func (p *pool) anchor() int32 { return int32(len(p.blocks) - 1) }
func (p *pool) size() int     { return len(p.blocks) - 1 }
func (p *pool) used() int     { return p.size() - p.waiting }

// enqueue appends a block that nobody refers to.
func (p *pool) enqueue(b int32) {
	anchor := p.anchor()
	last := p.blocks[anchor].prev
	p.blocks[b].prev, p.blocks[b].next = last, anchor
	p.blocks[last].next = b
	p.blocks[anchor].prev = b
	p.waiting++
	if p.blocks[b].hashed {
		p.cached++
	}
}

func (p *pool) dequeue(b int32) {
	x := &p.blocks[b]
	p.blocks[x.prev].next = x.next
	p.blocks[x.next].prev = x.prev
	p.waiting--
	if x.hashed {
		p.cached--
	}
}

// take returns the oldest waiting block, emptied, with one reference. The
// caller has checked that one is waiting.
func (p *pool) take() int32 {
	b := p.blocks[p.anchor()].next
	p.dequeue(b)
	x := &p.blocks[b]
	if x.hashed {
		p.unlink(b)
	}
	x.refs = 1
	return b
}

// hold adds a reference to a named block.
func (p *pool) hold(b int32) {
	if p.blocks[b].refs == 0 {
		p.dequeue(b)
	}
	p.blocks[b].refs++
}

// release drops one reference to each block, last to first.
func (p *pool) release(blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		x := &p.blocks[blocks[i]]
		if x.refs--; x.refs == 0 {
			p.enqueue(blocks[i])
		}
	}
	p.changes++
}

// name gives a block in use the hash of its content.
func (p *pool) name(b int32, hash uint64) {
	if old := p.find(hash); old != noBlock {
		if p.blocks[old].refs > 0 {
			return
		}
		p.unlink(old)
		p.cached--
	}
	p.link(b, hash)
	p.changes++
}
