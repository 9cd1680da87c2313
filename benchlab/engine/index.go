package engine

import "math/bits"

// index finds blocks by the hash of their content: a table of chains, which run
// through the blocks themselves, so that naming and evicting a block touches
// little memory. Any uint64 is a hash.
type index struct {
	heads []int32 // first block of each chain, noBlock when empty
	shift uint
}

const noBlock = -1

// newIndex returns an index for a pool of size blocks, with at least as many chains.
func newIndex(size int) index {
	width := bits.Len(uint(size))
	x := index{heads: make([]int32, 1<<width), shift: uint(64 - width)}
	x.clear()
	return x
}

func (x *index) clear() {
	for i := range x.heads {
		x.heads[i] = noBlock
	}
}

// chain returns the head of a hash's chain. Multiplying by 2^64 over the golden
// ratio spreads small and sequential hashes as well as random ones.
func (x *index) chain(hash uint64) *int32 {
	return &x.heads[hash*0x9e3779b97f4a7c15>>x.shift]
}

// find returns the block that a hash names, or noBlock.
func (p *pool) find(hash uint64) int32 {
	b := *p.names.chain(hash)
	for b != noBlock && p.blocks[b].hash != hash {
		b = p.blocks[b].chained
	}
	return b
}

// link makes hash name a block; no other block has that name.
func (p *pool) link(b int32, hash uint64) {
	head := p.names.chain(hash)
	p.blocks[b].hash, p.blocks[b].hashed, p.blocks[b].chained = hash, true, *head
	*head = b
}

// unlink takes a block's name away.
func (p *pool) unlink(b int32) {
	x := &p.blocks[b]
	at := p.names.chain(x.hash)
	for *at != b {
		at = &p.blocks[*at].chained
	}
	*at = x.chained
	x.hashed = false
}
