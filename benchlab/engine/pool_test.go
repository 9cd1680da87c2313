package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// name is that of block i of a run.
func (x *run) name(i int32) name {
	if len(x.ids) == 0 {
		return name{}
	}
	n := x.skip(i)
	return name{n.ids[0], n.per, n.off}
}

// content lists the blocks that wait, in the order in which they are taken.
func (p *pool) content() (names []name) {
	for a := range int32(anchors) {
		for r := p.runs[a].next; r != a; r = p.runs[r].next {
			x := &p.runs[r]
			for i := range x.blocks {
				names = append(names, x.name(x.blocks-1-i))
			}
		}
	}
	return names
}

// TestPoolAgreesWithTwin lets both live through sequences that share prefixes:
// look up, hold what is found, take and name the rest, sometimes flush or protect,
// release.
func TestPoolAgreesWithTwin(t *testing.T) {
	const size = 40
	r := rand.New(rand.NewPCG(3, 4))
	p, w := newPool(size), newPlainPool(size)
	type live struct {
		h     holding
		twin  []*plainBlock
		owner uint64
	}
	var lives []*live
	held := func() (all []*holding) {
		for _, s := range lives {
			all = append(all, &s.h)
		}
		return all
	}
	for round := range 6_000 {
		if len(lives) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(lives))
			p.release(&lives[i].h, lives[i].owner)
			w.release(lives[i].twin, lives[i].owner)
			lives = slices.Delete(lives, i, i+1)
		}
		switch r.IntN(200) {
		case 0:
			p.flush()
			w.flush()
		case 1, 2, 3:
			mask := r.Uint64()
			protected := func(owner uint64) bool { return mask>>owner&1 == 1 }
			p.protect(protected)
			w.protect(protected)
		case 4:
			p.protect(nil)
			w.protect(nil)
		}
		s := &live{owner: r.Uint64N(5)}
		n := names{ids: make([]uint64, 1+r.IntN(3)), per: int32(1 + r.IntN(2)*4)}
		for i := range n.ids {
			n.ids[i] = r.Uint64N(3)*uint64(i) + 10*uint64(i)
		}
		length := int(1 + r.Int32N(n.per*int32(len(n.ids))))
		at := func(i int) name { return (&run{names: n}).name(int32(i)) }
		for len(s.twin) < length { // hold what is there
			i := len(s.twin)
			x, from := p.find(n.skip(int32(i)))
			if twin := w.names[at(i)]; (x == nobody) != (twin == nil) {
				t.Fatalf("round %d: %+v is in run %d, twin says %+v", round, at(i), x, twin)
			}
			if x == nobody {
				break
			}
			if from > 0 {
				x = p.cut(x, from)
			}
			blocks := n.skip(int32(i)).common(p.runs[x].names, min(p.runs[x].blocks, int32(length-i)))
			p.hold(part{x, blocks})
			s.h.parts = append(s.h.parts, part{x, blocks})
			s.h.held += int(blocks)
			for ; i < s.h.held; i++ {
				twin := w.names[at(i)]
				if twin == nil {
					t.Fatalf("round %d: %+v is in run %d, twin has it not", round, at(i), x)
				}
				w.hold(twin)
				s.twin = append(s.twin, twin)
			}
		}
		if p.waiting != w.waiting.Len() {
			t.Fatalf("round %d: %d wait, twin says %d", round, p.waiting, w.waiting.Len())
		}
		from := len(s.twin)
		more := min(length-from, p.waiting)
		p.take(more)
		s.h.own(more)
		for len(s.twin) < s.h.held { // as in an engine, a later hit is computed again
			s.twin = append(s.twin, w.take())
		}
		if r.IntN(3) == 0 && from < s.h.held {
			from += r.IntN(s.h.held - from) // stays without a name
		}
		if to := s.h.held - r.IntN(s.h.held-from+1); to > from {
			p.publish(&s.h, from, n.skip(int32(from)), int32(to-from))
			for i := from; i < to; i++ {
				w.name(s.twin[i], at(i))
			}
		}
		if s.h.held > 0 {
			lives = append(lives, s)
		}
		if got, want := p.content(), w.content(); !slices.Equal(got, want) {
			t.Fatalf("round %d:\n got %v\nwant %v", round, got, want)
		}
		checkPool(t, p, held())
	}
}

// checkPool holds the laws of block conservation and of references: those of each
// run equal what the holdings have of it.
func checkPool(t *testing.T, p *pool, held []*holding) {
	t.Helper()
	refs, used := make([]int32, len(p.runs)), 0
	for _, h := range held {
		blocks := h.blank
		used += h.blank
		for _, x := range h.parts {
			blocks += int(x.blocks)
			if x.run == nobody {
				used += int(x.blocks)
				continue
			}
			for r, left := x.run, x.blocks; left > 0; r = p.runs[r].more {
				refs[r]++
				left -= p.runs[r].blocks
				if left < 0 {
					t.Fatalf("a holding has a part of run %d: %+v", r, p.runs[r])
				}
				if refs[r] == 1 {
					used += int(p.runs[r].blocks)
				}
			}
		}
		if blocks != h.held {
			t.Fatalf("a holding of %d blocks has parts of %d: %+v", h.held, blocks, h)
		}
	}
	waiting, cached := 0, 0
	idle := make([]bool, len(p.runs)) // waiting or unused
	for a := range int32(anchors) {
		idle[a] = true
		for r := p.runs[a].next; r != a; r = p.runs[r].next {
			x := &p.runs[r]
			idle[r] = true
			waiting += int(x.blocks)
			if x.named() {
				cached += int(x.blocks)
			}
			if x.refs != 0 || refs[r] != 0 || x.blocks < 1 || x.queue() != a || x.protected && !p.protects(x.owner) {
				t.Fatalf("run %d waits in queue %d, holdings have %d of it: %+v", r, a, refs[r], x)
			}
		}
	}
	for _, r := range p.unused {
		if idle[r] || refs[r] > 0 {
			t.Fatalf("run %d is unused, and holdings have %d of it or it waits", r, refs[r])
		}
		idle[r] = true
	}
	for i := range p.runs {
		r, x := int32(i), &p.runs[i]
		if !idle[r] && (x.refs != refs[r] || x.refs < 1 || x.blocks < 1) {
			t.Fatalf("run %d, of which holdings have %d: %+v", r, refs[r], x)
		}
		for i := range x.blocks * min(1, int32(len(x.ids))) {
			if found, at := p.find(x.skip(i)); found != r || at != i {
				t.Fatalf("%+v is block %d of run %d and found as block %d of run %d", x.name(i), i, r, at, found)
			}
		}
	}
	if waiting != p.waiting || cached != p.cached || used+waiting != p.size {
		t.Fatalf("%d used, %d waiting (%d counted), %d cached (%d counted) of %d blocks",
			used, waiting, p.waiting, cached, p.cached, p.size)
	}
}
