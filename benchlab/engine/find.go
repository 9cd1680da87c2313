package engine

// find returns the run that holds the block of n's first name, and which of its
// blocks that is, or nobody.
func (p *pool) find(n names) (r, at int32) {
	id := n.ids[0]
	for i := p.index.home(id); p.index.table[i].run != nobody; i = p.index.next(i) {
		q := p.index.table[i]
		if q.id != id {
			continue
		}
		if from, to := p.span(q, n.per); from <= n.off && n.off < to {
			return q.run, q.at*n.per + n.off - p.runs[q.run].off
		}
	}
	return nobody, 0
}

// span returns the blocks of an id that the run of one of its places holds: those
// from number from to number to-1. There are none if the run has lost the id or
// if it stands there for another number of blocks than per.
func (p *pool) span(q place, per int32) (from, to int32) {
	x := &p.runs[q.run]
	if x.per != per || int(q.at) >= len(x.ids) || x.ids[q.at] != q.id {
		return 0, 0
	}
	if q.at == 0 {
		from = x.off
	}
	return from, min(per, x.off+x.blocks-q.at*per)
}

// know puts the ids of a run from number from on into the index.
func (p *pool) know(r, from int32) {
	for i, id := range p.runs[r].ids[from:] {
		if p.index.full() {
			p.reindex()
			return
		}
		p.index.add(place{id, r, from + int32(i)})
	}
}

// reindex makes the index anew.
func (p *pool) reindex() {
	places := 0
	for i := range p.runs {
		places += len(p.runs[i].ids)
	}
	p.index.clear(places)
	for r := range p.runs {
		for at, id := range p.runs[r].ids {
			p.index.add(place{id, int32(r), int32(at)})
		}
	}
}

// free returns the end of the blocks of an id from number off on, and at most to
// number end, that no run holds.
func (p *pool) free(id uint64, per, off, end int32) int32 {
	for i := p.index.home(id); p.index.table[i].run != nobody; i = p.index.next(i) {
		if q := p.index.table[i]; q.id == id {
			if from, to := p.span(q, per); to > off {
				end = min(end, max(from, off))
			}
		}
	}
	return end
}
