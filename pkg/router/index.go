package router

// maxIndexBlocks bounds the blocks of one worker, however large its KV cache.
const maxIndexBlocks = 1 << 20

// index remembers which prompt blocks were dispatched to which worker, the
// best guess at what is in the workers' prefix caches. It holds at most as
// many blocks per worker as the worker's KV cache does, and drops those
// touched longest ago, tails before heads.
type index struct {
	unknown int // blocks kept for a worker whose KV size is unknown
	seed    uint64
}

// insert records that the worker has computed the blocks, and returns how many others
// made room.
func (x *index) insert(w *worker, blocks []uint64, blockTokens int) (dropped int) {
	if len(blocks) == 0 {
		return 0
	}
	limit := x.unknown
	if w.info.KVTokens > 0 && blockTokens > 0 {
		limit = min(max(1, w.info.KVTokens/blockTokens), maxIndexBlocks)
	}
	if w.prefixes == nil {
		w.prefixes = newPrefixes(limit, x.seed)
	}
	return w.prefixes.resize(limit) + w.prefixes.use(blocks)
}

// match returns how many leading blocks the worker has.
func (x *index) match(w *worker, blocks []uint64) int {
	if w.prefixes == nil {
		return 0
	}
	return w.prefixes.match(blocks)
}

// has reports whether the worker has the first n blocks, or as many of them as
// it can hold.
func (x *index) has(w *worker, blocks []uint64, n int) bool {
	if s := w.prefixes; s != nil {
		n = min(n, s.limit)
		return s.match(blocks[:n]) == n
	}
	return false
}

// forget drops all of a worker's blocks.
func (x *index) forget(w *worker) { w.prefixes = nil }
