package engine

import "time"

// Protect has blocks of protected owners evicted only when no others wait, until
// the next call; nil ends it. A block's owner is the Owner of the request that
// had it last, but a protected one stays its owner when others share the block.
// Each call asks for every owner in the cache anew, and so must follow a change
// of what protected answers. Time: linear in the cached runs of blocks.
func (e *Engine) Protect(now time.Duration, protected func(owner uint64) bool) {
	e.advance(now)
	e.pool.protect(protected)
}

// protects tells whether an owner's blocks are evicted last.
func (p *pool) protects(owner uint64) bool {
	return owner != 0 && p.protected != nil && p.protected(owner)
}

// protect marks all runs anew and has those that wait change queues, each queue in
// order of entry.
func (p *pool) protect(protected func(owner uint64) bool) {
	p.protected = protected
	for i := range p.runs {
		p.runs[i].protected = p.protects(p.runs[i].owner)
	}
	a, b := p.runs[open].next, p.runs[guarded].next
	for i := range int32(anchors) {
		p.runs[i].prev, p.runs[i].next = i, i
	}
	for a != open || b != guarded {
		from := &a
		if a == open || b != guarded && p.runs[b].before(&p.runs[a]) {
			from = &b
		}
		r := *from
		*from = p.runs[r].next
		p.insert(r, p.runs[r].queue())
	}
}

// queue returns the anchor of the queue that a run waits in.
func (x *run) queue() int32 {
	if x.protected {
		return guarded
	}
	return open
}

// before tells whether x began to wait before y: parts of one run wait from the
// same moment, tails first.
func (x *run) before(y *run) bool {
	return x.entry < y.entry || x.entry == y.entry && x.begin > y.begin
}

// expose has a waiting run lose its protection.
func (p *pool) expose(r int32) {
	p.unqueue(r)
	p.runs[r].protected = false
	next := int32(open)
	for last := p.runs[open].prev; last != open && p.runs[r].before(&p.runs[last]); last = p.runs[last].prev {
		next = last
	}
	p.insert(r, next)
}
