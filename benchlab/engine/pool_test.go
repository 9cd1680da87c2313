package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// twin is the pool written for the reader: slices and maps, no list, no index.
type twin struct {
	queue   []int32          // waiting blocks, oldest first
	content map[int32]uint64 // named blocks
	refs    map[int32]int
}

func newTwin(size int) *twin {
	w := &twin{content: map[int32]uint64{}, refs: map[int32]int{}}
	for b := range int32(size) {
		w.queue = append(w.queue, b)
	}
	return w
}

func (w *twin) find(hash uint64) int32 {
	for b, h := range w.content {
		if h == hash {
			return b
		}
	}
	return noBlock
}

func (w *twin) take() int32 {
	b := w.queue[0]
	w.queue = w.queue[1:]
	delete(w.content, b)
	w.refs[b] = 1
	return b
}

func (w *twin) hold(b int32) {
	if w.refs[b] == 0 {
		i := slices.Index(w.queue, b)
		w.queue = slices.Delete(slices.Clone(w.queue), i, i+1)
	}
	w.refs[b]++
}

func (w *twin) release(blocks []int32) {
	for _, b := range slices.Backward(blocks) {
		if w.refs[b]--; w.refs[b] == 0 {
			w.queue = append(w.queue, b)
		}
	}
}

func (w *twin) name(b int32, hash uint64) {
	if old := w.find(hash); old != noBlock {
		if w.refs[old] > 0 {
			return
		}
		delete(w.content, old)
	}
	w.content[b] = hash
}

func (w *twin) String() string {
	s := ""
	for _, b := range w.queue {
		h, ok := w.content[b]
		s += fmt.Sprintf("%d:%x:%t ", b, h, ok)
	}
	return s + fmt.Sprint(len(w.content))
}

func describe(p *pool) string {
	s, names := "", 0
	for b := p.blocks[p.anchor()].next; b != p.anchor(); b = p.blocks[b].next {
		h := p.blocks[b].hash
		if !p.blocks[b].hashed {
			h = 0
		}
		s += fmt.Sprintf("%d:%x:%t ", b, h, p.blocks[b].hashed)
	}
	for _, b := range p.blocks {
		if b.hashed {
			names++
		}
	}
	return s + fmt.Sprint(names)
}

// TestPoolAgreesWithTwin lets both live through sequences that share prefixes:
// look up, hold what is found, take and name the rest, sometimes flush, release.
func TestPoolAgreesWithTwin(t *testing.T) {
	const size = 24
	r := rand.New(rand.NewPCG(3, 4))
	p, w := newPool(size), newTwin(size)
	var live [][]int32
	for round := range 5_000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(live))
			p.release(live[i])
			w.release(live[i])
			live = slices.Delete(live, i, i+1)
		}
		if r.IntN(500) == 0 {
			p.flush()
			clear(w.content)
		}
		family, length := r.Uint64N(5), 1+r.IntN(8)
		var blocks []int32
		missed := false
		for i := range length {
			hash := family*100 + uint64(i)
			found := p.find(hash)
			if twins := w.find(hash); found != twins {
				t.Fatalf("round %d: hash %d is block %d, twin says %d", round, hash, found, twins)
			}
			if found != noBlock && !missed {
				p.hold(found)
				w.hold(found)
				blocks = append(blocks, found)
				continue
			}
			missed = true // as in an engine, a later hit is computed again
			if p.waiting == 0 {
				break
			}
			b := p.take()
			if twins := w.take(); b != twins {
				t.Fatalf("round %d: took %d, twin took %d", round, b, twins)
			}
			if r.IntN(10) > 0 {
				p.name(b, hash)
				w.name(b, hash)
			}
			blocks = append(blocks, b)
		}
		if len(blocks) > 0 {
			live = append(live, blocks)
		}
		if got, want := describe(p), w.String(); got != want {
			t.Fatalf("round %d:\n got %s\nwant %s", round, got, want)
		}
		checkPool(t, p)
	}
}

// checkPool holds the laws of block conservation and of references.
func checkPool(t *testing.T, p *pool) {
	t.Helper()
	waiting, cached := 0, 0
	for b := p.blocks[p.anchor()].next; b != p.anchor(); b = p.blocks[b].next {
		waiting++
		if p.blocks[b].hashed {
			cached++
		}
		if p.blocks[b].refs != 0 {
			t.Fatalf("block %d waits with %d references", b, p.blocks[b].refs)
		}
	}
	used := 0
	for b := range p.anchor() {
		switch x := p.blocks[b]; {
		case x.refs < 0:
			t.Fatalf("block %d has %d references", b, x.refs)
		case x.refs > 0:
			used++
		}
		if x := p.blocks[b]; x.hashed && p.find(x.hash) != b {
			t.Fatalf("block %d has hash %d, which names block %d", b, x.hash, p.find(x.hash))
		}
	}
	if waiting != p.waiting || cached != p.cached || used+waiting != p.size() {
		t.Fatalf("%d used, %d waiting (%d counted), %d cached (%d counted) of %d blocks",
			used, waiting, p.waiting, cached, p.cached, p.size())
	}
}
