package engine

import (
	"math/rand/v2"
	"testing"
)

// TestIndexAgreesWithMap has runs of up to three ids come, lose their tails, be cut
// and go, more than the index begins with room for.
func TestIndexAgreesWithMap(t *testing.T) {
	const per = 2
	r := rand.New(rand.NewPCG(1, 2))
	p := newPool(1)
	var live []int32
	want := map[name]int32{} // runs by the name of each block
	id := func() uint64 {    // sequential, zero, and equal in the low bits
		k := r.Uint64N(120)
		if r.IntN(2) == 0 {
			return k << 57
		}
		return k
	}
	write := func(x int32) {
		for i := range p.runs[x].blocks {
			want[p.runs[x].name(i)] = x
		}
	}
	for step := range 20_000 {
		switch i := r.IntN(len(live) + 50); {
		case i >= len(live):
			x := run{names: names{per: per, off: r.Int32N(per)}, refs: 1}
			for n, left := (name{id(), per, x.off}), 1+r.IntN(5); left > 0; left-- {
				if _, taken := want[n]; taken {
					break
				}
				if x.blocks++; len(x.ids) == 0 || n.off == 0 {
					x.ids = append(x.ids, n.id)
				}
				want[n] = nobody
				if n.off++; n.off == per {
					n = name{id(), per, 0}
				}
			}
			if x.blocks > 0 {
				c := p.put(x)
				p.know(c, 0)
				live = append(live, c)
				write(c)
			}
		case p.runs[live[i]].blocks > 1 && r.IntN(2) == 0:
			live = append(live, p.cut(live[i], 1+r.Int32N(p.runs[live[i]].blocks-1)))
			write(live[len(live)-1])
		default:
			x := &p.runs[live[i]]
			left := r.Int32N(x.blocks)
			for k := left; k < x.blocks; k++ {
				delete(want, x.name(k))
			}
			if x.trim(left); left == 0 {
				p.unused = append(p.unused, live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
		}
		n := names{ids: []uint64{id()}, per: per, off: r.Int32N(per)}
		x, ok := want[name{n.ids[0], per, n.off}]
		if !ok {
			x = nobody
		}
		got, at := p.find(n)
		if got != x || ok && p.runs[x].name(at) != (name{n.ids[0], per, n.off}) {
			t.Fatalf("step %d: %+v is block %d of run %d, want run %d", step, n, at, got, x)
		}
		end := n.off
		for ; end < per; end++ {
			if _, taken := want[name{n.ids[0], per, end}]; taken {
				break
			}
		}
		if got := p.free(n.ids[0], per, n.off, per); got != end {
			t.Fatalf("step %d: %+v is free up to %d, want %d", step, n, got, end)
		}
	}
	if len(p.index.table) <= minPlaces {
		t.Error("the index never grew")
	}
}
