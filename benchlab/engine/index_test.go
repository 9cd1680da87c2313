package engine

import (
	"math/rand/v2"
	"testing"
)

func TestIndexAgreesWithMap(t *testing.T) {
	const size = 40
	r := rand.New(rand.NewPCG(1, 2))
	p, want := newPool(size), map[uint64]int32{}
	key := func() uint64 { // sequential, zero, and pairwise equal in the low bits
		k := r.Uint64N(60)
		if r.IntN(2) == 0 {
			return k << 58
		}
		return k
	}
	for step := range 50_000 {
		k, b := key(), r.Int32N(size)
		_, taken := want[k]
		switch {
		case p.blocks[b].hashed:
			delete(want, p.blocks[b].hash)
			p.unlink(b)
		case !taken:
			p.link(b, k)
			want[k] = b
		}
		probe := key()
		block, in := want[probe]
		if !in {
			block = noBlock
		}
		if got := p.find(probe); got != block {
			t.Fatalf("step %d: find(%#x) = %d, want %d", step, probe, got, block)
		}
	}
	p.names.clear()
	for k := range want {
		if p.find(k) != noBlock {
			t.Fatalf("%#x is left after clear", k)
		}
	}
}
