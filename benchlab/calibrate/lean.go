package calibrate

import "gatewayd/benchlab/engine"

// lean returns the run without the block ids that only one request has, which never
// hit: replays take half the time and give the same. Where the KV capacity may be
// too small, what is evicted depends on all ids, and the run comes back as it is.
func lean(run *Run, p engine.Profile) *Run {
	need, owners := 0, map[uint64]int{}
	size := max(1, run.BlockTokens)
	for i := range run.Requests {
		r := &run.Requests[i]
		need += (r.Prompt+r.Output)/size + 1
		for _, ids := range [][]uint64{r.Blocks, r.OutputBlocks} {
			for _, id := range ids {
				owners[id]++
			}
		}
	}
	if p.KVBlocks != 0 && need > p.KVBlocks {
		return run
	}
	shared := func(ids []uint64) []uint64 {
		for i, id := range ids {
			if owners[id] < 2 {
				return ids[:i] // ids are chained: what follows is its own as well
			}
		}
		return ids
	}
	out := *run
	out.Requests = make([]Request, len(run.Requests))
	for i, r := range run.Requests {
		full := len(r.Blocks)
		if r.Blocks = shared(r.Blocks); len(r.Blocks) < full {
			r.OutputBlocks = nil
		} else {
			r.OutputBlocks = shared(r.OutputBlocks)
		}
		out.Requests[i] = r
	}
	return &out
}
