package engine

// holding is what a sequence has of the pool, first block to last: parts, and
// then blocks without a name that nobody else has.
type holding struct {
	parts []part
	blank int // blocks after the parts
	held  int // in all
}

// part is some blocks of a holding: those of a run and of what was cut off it
// since, or blocks without a name if run is nobody.
type part struct{ run, blocks int32 }

// attach turns blocks of h, the first of which is number at, from blank ones into
// a part of their own.
func (h *holding) attach(at int, x part) {
	if before := at - (h.held - h.blank); before > 0 {
		h.parts = append(h.parts, part{nobody, int32(before)})
		h.blank -= before
	}
	h.parts = append(h.parts, x)
	h.blank -= int(x.blocks)
}

// own adds blank blocks.
func (h *holding) own(blocks int) {
	h.blank += blocks
	h.held += blocks
}

// hold adds a reference to the first blocks of a named run and, where a part of the
// same holding has had it cut since it was found, of what was cut off.
func (p *pool) hold(x part) {
	switch rest := x.blocks - p.runs[x.run].blocks; {
	case rest > 0:
		p.hold(part{p.runs[x.run].more, rest})
	case rest < 0:
		p.cut(x.run, x.blocks)
	}
	r := &p.runs[x.run]
	if r.refs == 0 {
		p.unqueue(x.run)
		p.waiting -= int(r.blocks)
		p.cached -= int(r.blocks)
	}
	r.refs++
}

// publish names blank blocks of h: as many as blocks from number at on get n.
func (p *pool) publish(h *holding, at int, n names, blocks int32) {
	for blocks > 0 {
		r, count := p.name(n, blocks)
		if count > 0 {
			h.attach(at, part{r, count})
		} else {
			r, from := p.find(n)
			x := &p.runs[r]
			count = n.common(x.skip(from), min(blocks, x.blocks-from))
			if x.refs == 0 {
				p.strip(r, from, count)
				continue
			}
		}
		blocks -= count
		at += int(count)
		n = n.skip(count)
	}
}

// name makes a run in use of blocks that get n's first names, at most limit, up to
// one that a run holds. It returns nobody if that is the first.
func (p *pool) name(n names, limit int32) (r, count int32) {
	r = nobody
	off := n.off
	for at, id := range n.ids {
		end := min(n.per, off+limit-count)
		to := p.free(id, n.per, off, end)
		if to > off {
			if r == nobody {
				r = p.put(run{names: n, refs: 1})
				p.runs[r].ids = make([]uint64, 0, n.touched(limit))
			}
			count += to - off
			x := &p.runs[r]
			x.ids, x.blocks = append(x.ids, id), count
			p.know(r, int32(at))
		}
		if to < end || count == limit {
			break
		}
		off = 0
	}
	if r != nobody {
		p.changes++
	}
	return r, count
}

// strip takes the names of some blocks of a waiting run away.
func (p *pool) strip(r, from, blocks int32) {
	if from > 0 {
		r = p.cut(r, from)
	}
	if blocks < p.runs[r].blocks {
		p.cut(r, blocks)
	}
	x := &p.runs[r]
	x.names, x.owner = names{}, 0
	p.cached -= int(blocks)
	if x.protected {
		p.expose(r)
	}
}

// release drops a reference to each block of a holding, last to first. Those that
// nobody has then wait for owner, or for another protected one who had them.
func (p *pool) release(h *holding, owner uint64) {
	protected := p.protects(owner)
	p.enqueueFree(h.blank)
	for i := len(h.parts) - 1; i >= 0; i-- {
		if x := h.parts[i]; x.run == nobody {
			p.enqueueFree(int(x.blocks))
		} else {
			p.drop(x, owner, protected)
		}
	}
	*h = holding{parts: h.parts[:0]}
	p.changes++
}

func (p *pool) drop(x part, owner uint64, protected bool) {
	r := &p.runs[x.run]
	if rest := x.blocks - r.blocks; rest > 0 {
		p.drop(part{r.more, rest}, owner, protected)
		r = &p.runs[x.run]
	}
	if protected || !r.protected {
		r.owner, r.protected = owner, protected
	}
	switch r.refs--; {
	case r.refs > 0:
	case r.named():
		p.enqueue(x.run)
	default:
		p.unused = append(p.unused, x.run)
		p.enqueueFree(int(r.blocks))
	}
}
