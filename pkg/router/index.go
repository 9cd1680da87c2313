package router

// maxIndexBlocks bounds the blocks of one worker, however large its KV cache.
const maxIndexBlocks = 1 << 20

// index remembers which prompt blocks were dispatched to which worker, the
// best guess at what is in the workers' prefix caches. It holds at most as
// many blocks per worker as the worker's KV cache does, and drops those
// touched longest ago, tails before heads.
type index struct {
	unknown int // blocks kept for a worker whose KV size is unknown
	blocks  map[*worker]*lru[uint64, struct{}]
}

func newIndex(unknown int) *index {
	return &index{unknown: unknown, blocks: map[*worker]*lru[uint64, struct{}]{}}
}

// insert records that the worker has computed the blocks.
func (x *index) insert(w *worker, blocks []uint64, blockTokens int) {
	if len(blocks) == 0 {
		return
	}
	limit := x.unknown
	if w.info.KVTokens > 0 && blockTokens > 0 {
		limit = min(max(1, w.info.KVTokens/blockTokens), maxIndexBlocks)
	}
	set := x.blocks[w]
	if set == nil {
		set = newLRU[uint64, struct{}](limit)
		x.blocks[w] = set
	}
	set.resize(limit)
	for i := min(len(blocks), limit) - 1; i >= 0; i-- {
		set.put(blocks[i])
	}
}

// match returns how many leading blocks the worker has.
func (x *index) match(w *worker, blocks []uint64) int {
	set := x.blocks[w]
	if set == nil {
		return 0
	}
	for i, b := range blocks {
		if set.get(b) == nil {
			return i
		}
	}
	return len(blocks)
}

// forget drops all of a worker's blocks. A nil index has none.
func (x *index) forget(w *worker) {
	if x != nil {
		delete(x.blocks, w)
	}
}
