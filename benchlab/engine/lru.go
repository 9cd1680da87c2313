package engine

// enqueue has a named run wait that nobody refers to.
func (p *pool) enqueue(r int32) {
	x := &p.runs[r]
	p.entries++
	x.entry = p.entries
	p.waiting += int(x.blocks)
	p.cached += int(x.blocks)
	p.insert(r, x.queue())
}

// enqueueFree has blocks without a name wait.
func (p *pool) enqueueFree(blocks int) {
	if blocks == 0 {
		return
	}
	p.waiting += blocks
	if last := p.runs[open].prev; last != open && !p.runs[last].named() && p.protected == nil {
		p.runs[last].blocks += int32(blocks)
		return
	}
	p.entries++
	p.insert(p.put(run{blocks: int32(blocks), entry: p.entries}), open)
}

// take takes the blocks that have waited longest and empties them. The caller has
// checked that so many wait.
func (p *pool) take(blocks int) {
	p.waiting -= blocks
	for left := int32(blocks); left > 0; {
		r := p.runs[open].next
		if r == open {
			r = p.runs[guarded].next
		}
		x := &p.runs[r]
		gone := min(left, x.blocks)
		left -= gone
		if x.named() {
			p.cached -= int(gone)
		}
		if x.trim(x.blocks - gone); x.blocks == 0 {
			p.unqueue(r)
			p.unused = append(p.unused, r)
		}
	}
}

// insert puts a run into a queue before another, or at its end before its anchor.
func (p *pool) insert(r, before int32) {
	last := p.runs[before].prev
	p.runs[r].prev, p.runs[r].next = last, before
	p.runs[last].next = r
	p.runs[before].prev = r
}

func (p *pool) unqueue(r int32) {
	x := &p.runs[r]
	p.runs[x.prev].next = x.next
	p.runs[x.next].prev = x.prev
}
