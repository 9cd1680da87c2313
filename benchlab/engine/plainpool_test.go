package engine

import "container/list"

// plainPool is the pool written for the reader: one node a block, a list for the
// queue, a map for the names.
type plainPool struct {
	waiting   list.List // of *plainBlock, first come first
	names     map[name]*plainBlock
	protected func(owner uint64) bool
}

// name is that of one block.
type name struct {
	id       uint64
	per, off int32
}

type plainBlock struct {
	name      name
	named     bool
	refs      int
	place     *list.Element // while it waits
	owner     uint64
	protected bool
}

func newPlainPool(size int) *plainPool {
	p := &plainPool{names: map[name]*plainBlock{}}
	for range size {
		p.enqueue(&plainBlock{})
	}
	return p
}

func (p *plainPool) enqueue(b *plainBlock) { b.place = p.waiting.PushBack(b) }

func (p *plainPool) take() *plainBlock {
	place := p.waiting.Front()
	for at := place; at != nil; at = at.Next() {
		if b := at.Value.(*plainBlock); !b.named || !b.protected {
			place = at
			break
		}
	}
	b := p.waiting.Remove(place).(*plainBlock)
	if b.named {
		delete(p.names, b.name)
	}
	*b = plainBlock{refs: 1}
	return b
}

func (p *plainPool) hold(b *plainBlock) {
	if b.refs == 0 {
		p.waiting.Remove(b.place)
	}
	b.refs++
}

func (p *plainPool) release(blocks []*plainBlock, owner uint64) {
	protected := p.protects(owner)
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		if protected || !b.protected {
			b.owner, b.protected = owner, protected
		}
		if b.refs--; b.refs == 0 {
			p.enqueue(b)
		}
	}
}

func (p *plainPool) name(b *plainBlock, n name) {
	if old := p.names[n]; old != nil {
		if old.refs > 0 {
			return
		}
		old.named = false
	}
	b.name, b.named, b.owner, b.protected = n, true, 0, false
	p.names[n] = b
}

func (p *plainPool) flush() {
	for _, b := range p.names {
		b.named = false
	}
	clear(p.names)
}

func (p *plainPool) protects(owner uint64) bool {
	return owner != 0 && p.protected != nil && p.protected(owner)
}

func (p *plainPool) protect(protected func(uint64) bool) {
	p.protected = protected
	for _, b := range p.names {
		b.protected = p.protects(b.owner)
	}
}

// content lists the queue in the order in which blocks are taken.
func (p *plainPool) content() (names []name) {
	var last []name
	for at := p.waiting.Front(); at != nil; at = at.Next() {
		switch b := at.Value.(*plainBlock); {
		case !b.named:
			names = append(names, name{})
		case b.protected:
			last = append(last, b.name)
		default:
			names = append(names, b.name)
		}
	}
	return append(names, last...)
}
