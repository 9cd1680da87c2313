package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainIndex is the slow twin of the prefix index: a map of blocks for each worker,
// which moves one block at a time.
type plainIndex struct {
	unknown int // blocks of a worker whose KV size is unknown
	off     bool
	blocks  map[*worker]*lru[uint64, struct{}]
}

func newPlainIndex(unknown int) *plainIndex {
	return &plainIndex{unknown: unknown, blocks: map[*worker]*lru[uint64, struct{}]{}}
}

func (x *plainIndex) insert(w *worker, r Request) {
	if r = r.bounded(); x.off || len(r.Blocks) == 0 {
		return
	}
	limit := x.unknown
	if w.info.KVTokens > 0 && r.BlockTokens > 0 {
		limit = min(max(1, w.info.KVTokens/r.BlockTokens), maxIndexBlocks)
	}
	if x.blocks[w] == nil {
		x.blocks[w] = newLRU[uint64, struct{}](limit)
	}
	x.blocks[w].resize(limit)
	for i := min(len(r.Blocks), limit) - 1; i >= 0; i-- {
		x.blocks[w].put(r.Blocks[i])
	}
}

func (x *plainIndex) match(w *worker, blocks []uint64) (n int) {
	for n < len(blocks) && x.blocks[w] != nil && x.blocks[w].get(blocks[n]) != nil {
		n++
	}
	return n
}

// cached is what a receipt is to say.
func (x *plainIndex) cached(w *worker, r Request) int {
	if r = r.bounded(); x.off || len(r.Blocks) == 0 {
		return -1
	}
	return min(x.match(w, r.Blocks)*r.BlockTokens, r.PromptTokens)
}

func (x *plainIndex) forget(gone func(*worker) bool) {
	for w := range x.blocks {
		if gone(w) {
			delete(x.blocks, w)
		}
	}
}

// order lists blocks from the newest to the oldest.
func (s *prefixes) order() (ids []uint64) {
	for r := s.runs[0].older; r != 0; r = s.runs[r].older {
		x := &s.runs[r]
		ids = append(ids, s.ids[x.begin:x.begin+x.blocks]...)
	}
	return ids
}

// check holds that runs lie apart, that the table has all of them and nothing else,
// and that nothing is lost or beyond its bound; the limit was never above most.
func (s *prefixes) check(most int) error {
	blocks, end, runs, spare := 0, int32(0), 0, 0
	hashes := make([]uint32, len(s.runs)) // by run, as the table has them
	for _, p := range s.heads.places {
		hashes[p.run] = p.hash
	}
	for r := s.runs[0].after; r != 0; r = s.runs[r].after {
		x := &s.runs[r]
		if x.blocks < 1 || x.begin < end {
			return fmt.Errorf("run %+v begins before %d", *x, end)
		}
		if id := s.ids[x.begin]; s.heads.hash(id) != hashes[r] || s.find(id) == 0 {
			return fmt.Errorf("run %d is not in the table", r)
		}
		blocks, end, runs = blocks+int(x.blocks), x.begin+x.blocks, runs+1
	}
	for r := s.free; r != 0; r = s.runs[r].older {
		spare++
	}
	places := len(s.heads.places)
	if blocks != s.count || s.count > s.limit || len(s.order()) != blocks || int(end) > len(s.ids) || cap(s.ids) > most+most/2 ||
		runs != s.heads.taken || 4*runs > 3*places || len(s.runs) != runs+spare+1 {
		return fmt.Errorf("%d blocks of %d (%d counted) and room for %d, %d runs and %d spare of %d, %d of %d places taken",
			blocks, s.limit, s.count, cap(s.ids), runs, spare, len(s.runs), s.heads.taken, places)
	}
	return nil
}

// TestPrefixesAgreeWithTwin compares their answers and the order of their blocks,
// for prompts that grow and branch, also of more blocks than fit, and bounds that
// change.
func TestPrefixesAgreeWithTwin(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		x, twin := &index{seed: rng.Uint64()}, newPlainIndex(0)
		w := &worker{}
		size := 1 + rng.IntN(120)
		chains := 1 + rng.Uint64N(40)
		for round := range 1000 {
			if rng.IntN(100) == 0 {
				size = 1 + rng.IntN(120)
			}
			if rng.IntN(300) == 0 {
				x.forget(w)
				delete(twin.blocks, w)
			}
			x.unknown, twin.unknown = size, size
			blocks := chained(rng, chains)
			if got, want := x.match(w, blocks), twin.match(w, blocks); got != want {
				t.Fatalf("seed %d round %d: %d blocks match, twin says %d", seed, round, got, want)
			}
			if n := 1 + rng.IntN(len(blocks)); w.prefixes != nil {
				if got, want := x.has(w, blocks, n), twin.blocks[w].get(blocks[min(n, w.prefixes.limit)-1]) != nil; got != want {
					t.Fatalf("seed %d round %d: block %d is there: %v, twin says %v", seed, round, n, got, want)
				}
			}
			x.insert(w, blocks, 0)
			twin.insert(w, Request{Blocks: blocks})
			var order []uint64
			nodes := twin.blocks[w].nodes
			for n := nodes[0].next; n != 0; n = nodes[n].next {
				order = append(order, nodes[n].key)
			}
			if got := w.prefixes.order(); !slices.Equal(got, order) {
				t.Fatalf("seed %d round %d: blocks %v\ntwin has %v", seed, round, got, order)
			}
			if err := w.prefixes.check(120); err != nil {
				t.Fatalf("seed %d round %d: %v", seed, round, err)
			}
		}
	}
}

// chained makes the start of one of some chains, each of which leaves another after
// a few blocks.
func chained(rng *rand.Rand, chains uint64) []uint64 {
	blocks := make([]uint64, 1+rng.IntN(40))
	chain := rng.Uint64N(chains)
	for i := range blocks {
		of := chain
		for of > 0 && i < int(Mix(of)%20) {
			of /= 2
		}
		blocks[i] = Mix(of<<16 | uint64(i))
	}
	return blocks
}

// TestPrefixesOfAnyIDs holds the bounds when ids break their promise: in any order,
// repeated, of few kinds.
func TestPrefixesOfAnyIDs(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 6))
		s := newPrefixes(1+rng.IntN(60), rng.Uint64())
		kinds := 1 + rng.Uint64N(100)
		for round := range 2000 {
			blocks := make([]uint64, rng.IntN(50))
			for i := range blocks {
				blocks[i] = rng.Uint64N(kinds)
			}
			if n := s.match(blocks); n < 0 || n > len(blocks) {
				t.Fatalf("law 6: %d of %d blocks match", n, len(blocks))
			}
			s.use(blocks)
			if rng.IntN(100) == 0 {
				s.resize(rng.IntN(60))
			}
			if err := s.check(60); err != nil {
				t.Fatalf("law 6: seed %d round %d: %v", seed, round, err)
			}
		}
	}
}

// TestPrefixesAllocateNothing holds that a full index needs no more memory.
func TestPrefixesAllocateNothing(t *testing.T) {
	s := newPrefixes(1000, 1)
	blocks, n := make([]uint64, 30), uint64(0)
	use := func() {
		for i := range blocks {
			n++
			blocks[i] = Mix(n)
		}
		s.use(blocks)
	}
	for range 100 {
		use()
	}
	if n := testing.AllocsPerRun(1000, use); n != 0 {
		t.Errorf("%v allocations per prompt", n)
	}
}
