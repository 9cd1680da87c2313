package engine

// pool holds the KV blocks. A block is used while sequences refer to it, and
// otherwise waits in a queue, oldest first, from which new blocks are taken. A
// waiting block that still has the name of its content is cached, one without is
// free. As in vLLM both kinds wait in the same queue, and a sequence gives its
// blocks back last to first, so that tails are evicted before heads.
//
// A name is an id and the number of a block within it. It names at most one
// block. A block computed twice leaves the name with the block in use; if the
// old one only waits, the new one takes the name.
//
// Successive blocks with the same fate are one run, so that the cost of a request
// depends little on the size of a block. A run is cut when fates part: somebody
// shares only its beginning, or its tail is evicted. The results are those of one
// run per block.
type pool struct {
	size    int     // blocks
	runs    []run   // the first ones are the anchors of the queues
	unused  []int32 // of runs
	index   index   // of the ids of runs
	waiting int     // blocks in the queues
	cached  int     // of these, with a name
	changes uint64  // counts what may let a blocked request in: releases, new names and flushes

	entries   uint64                  // counts runs that began to wait
	protected func(owner uint64) bool // owners whose blocks are evicted last
}

// run is one or more blocks with one fate.
type run struct {
	names             // without ids if the blocks have none
	owner      uint64 // of the request that had it last; 0 if unknown
	entry      uint64 // when it began to wait
	prev, next int32  // in the queue
	more       int32  // what was cut off its end while sequences held both
	blocks     int32
	begin      int32 // number of its first block in the run that it was cut off
	refs       int32
	protected  bool // its owner is: evicted last
}

func (x *run) named() bool { return len(x.ids) > 0 }

const (
	open    = 0  // anchor of the queue that blocks are taken from first
	guarded = 1  // anchor of the queue of protected blocks
	anchors = 2  // number of anchors
	nobody  = -1 // in place of a run
)

func newPool(size int) *pool {
	p := &pool{size: size, runs: make([]run, anchors)}
	p.reset()
	return p
}

// reset makes every block free.
func (p *pool) reset() {
	clear(p.runs)
	p.runs, p.unused = p.runs[:anchors], p.unused[:0]
	for a := range int32(anchors) {
		p.runs[a] = run{prev: a, next: a}
	}
	p.index.clear(0)
	p.waiting, p.cached = 0, 0
	p.enqueueFree(p.size)
	p.changes++
}

// flush forgets all content; blocks in use stay in use, without a name.
func (p *pool) flush() {
	p.index.clear(0)
	for a := range int32(anchors) {
		for r := p.runs[a].next; r != a; r = p.runs[r].next {
			p.unused = append(p.unused, r)
		}
		p.runs[a].prev, p.runs[a].next = a, a
	}
	for i := range p.runs {
		p.runs[i].names = names{}
	}
	free := p.waiting
	p.waiting, p.cached = 0, 0
	p.enqueueFree(free)
	p.changes++
}

func (p *pool) used() int { return p.size - p.waiting }

// put gives x a place, which may move all runs.
func (p *pool) put(x run) int32 {
	if n := len(p.unused); n > 0 {
		r := p.unused[n-1]
		p.unused = p.unused[:n-1]
		p.runs[r] = x
		return r
	}
	p.runs = append(p.runs, x)
	return int32(len(p.runs) - 1)
}

// trim takes all but the first blocks away from a run.
func (x *run) trim(blocks int32) {
	x.ids = x.ids[:x.touched(blocks)]
	x.blocks = blocks
}

// cut makes a run end after its first blocks and returns that of the rest.
func (p *pool) cut(r, blocks int32) int32 {
	rest := p.runs[r]
	rest.blocks -= blocks
	rest.begin += blocks
	rest.names = rest.skip(blocks)
	c := p.put(rest)
	p.runs[r].trim(blocks)
	p.runs[r].more = c
	p.know(c, 0)
	if rest.refs == 0 {
		p.insert(c, r) // tails go first
	}
	return c
}
