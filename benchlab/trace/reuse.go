package trace

import "sort"

// Reuse is what one prefix cache that never evicts would serve, with the requests
// in arrival order: a request hits its leading blocks that were seen before.
type Reuse struct {
	BlockRefs      int     // block ids over all requests
	DistinctBlocks int     // different ones
	BlockHit       float64 // hit blocks over BlockRefs
	TokenHit       float64 // min(hit blocks x block size, prompt) over prompt tokens
	AnyHit         float64 // share of the requests with a hit
	Hit90          float64 // share of the requests with 90 % of their prompt or more hit
	Unchained      int     // ids met under two predecessors: equal ids without equal prefixes; 0 in a sound trace

	PerSession Distribution[float64] // hit blocks over blocks, by session
	Roots      Roots
}

// Roots says how prompts begin.
type Roots struct {
	FirstBlocks int     // different first blocks
	FirstTwo    int     // different beginnings of two blocks (or one, if there is no second)
	TopFirst    float64 // share of the requests with one of the ten most common first blocks
	TopFirstTwo float64 // the same of beginnings of two
	CommonFirst float64 // share of the requests with the most common first block
}

func (t *Trace) reuse() (u Reuse) {
	u.Unchained = t.unchained()
	seen := map[uint64]struct{}{}
	type session struct{ hit, refs int }
	sessions := map[uint64]session{}
	var hitBlocks, hitTokens, prompt, anyHit, hit90 int
	for i := range t.Requests {
		r := &t.Requests[i]
		salt := t.Scope.salt(r.Session)
		known := func(k int) bool {
			_, ok := seen[mix(r.Blocks[k]^salt, 0)]
			return ok
		}
		var hit int
		if u.Unchained == 0 { // a block that was seen was seen with all before it
			hit = sort.Search(len(r.Blocks), func(k int) bool { return !known(k) })
		} else {
			for hit < len(r.Blocks) && known(hit) {
				hit++
			}
		}
		for _, id := range r.Blocks[hit:] {
			seen[mix(id^salt, 0)] = struct{}{}
		}
		tokens := min(hit*t.BlockTokens, r.Input)
		hitBlocks += hit
		hitTokens += tokens
		prompt += r.Input
		u.BlockRefs += len(r.Blocks)
		if hit > 0 {
			anyHit++
		}
		if r.Input > 0 && tokens*10 >= r.Input*9 {
			hit90++
		}
		s := sessions[r.Session]
		sessions[r.Session] = session{s.hit + hit, s.refs + len(r.Blocks)}
	}
	u.DistinctBlocks = len(seen)
	u.BlockHit = ratio(hitBlocks, u.BlockRefs)
	u.TokenHit = ratio(hitTokens, prompt)
	u.AnyHit, u.Hit90 = ratio(anyHit, len(t.Requests)), ratio(hit90, len(t.Requests))
	delete(sessions, 0)
	var shares []float64
	for _, s := range sessions {
		shares = append(shares, ratio(s.hit, s.refs))
	}
	u.PerSession, u.Roots = NewDistribution(shares), t.roots()
	return u
}

func (t *Trace) roots() (o Roots) {
	first, two := map[uint64]int{}, map[[2]uint64]int{}
	for i := range t.Requests {
		r := &t.Requests[i]
		if len(r.Blocks) == 0 {
			continue
		}
		salt := t.Scope.salt(r.Session)
		begin := [2]uint64{mix(r.Blocks[0]^salt, 0)}
		if first[begin[0]]++; len(r.Blocks) > 1 {
			begin[1] = mix(r.Blocks[1]^salt, 1)
		}
		two[begin]++
	}
	var ones, twos []int
	for _, n := range first {
		ones = append(ones, n)
	}
	for _, n := range two {
		twos = append(twos, n)
	}
	n := len(t.Requests)
	o.FirstBlocks, o.FirstTwo = len(ones), len(twos)
	o.CommonFirst, o.TopFirst, o.TopFirstTwo = ratio(top(ones, 1), n), ratio(top(ones, 10), n), ratio(top(twos, 10), n)
	return o
}
