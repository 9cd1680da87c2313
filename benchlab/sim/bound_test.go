package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gatewayd/benchlab/trace"
)

// shared is a trace of prompts that branch at random. Some end in a partial block.
func shared(rng *rand.Rand, rows int) *trace.Trace {
	t := &trace.Trace{Name: "shared", BlockTokens: 32, Scope: trace.Scope(rng.IntN(2))}
	id := uint64(0)
	for i := range rows {
		r := trace.Request{At: time.Duration(i) * 100 * time.Second, Output: 1, Session: 1 + rng.Uint64N(3)}
		if i > 0 {
			p := &t.Requests[rng.IntN(i)]
			if t.Scope == trace.ScopeSession {
				r.Session = p.Session
			}
			r.Blocks = append(r.Blocks, p.Blocks[:rng.IntN(p.Input/32+1)]...)
			if rng.IntN(8) == 0 { // the same prompt again
				r.Blocks, r.Input = append([]uint64{}, p.Blocks...), p.Input
			}
		}
		if r.Input == 0 {
			for range rng.IntN(4) + 1 {
				id++
				r.Blocks = append(r.Blocks, id)
			}
			r.Input = 32*len(r.Blocks) - []int{0, 0, 10, 20}[rng.IntN(4)]
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

// TestClairvoyant compares the bound with Belady's rule on single blocks of the
// cache, and the bound of an endless cache with the outline.
func TestClairvoyant(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		tr := shared(rng, 40)
		profile := tenfold()
		profile.KVBlocks = 12 + rng.IntN(30)
		c := Config{Trace: tr, Workers: Fleet(1+rng.IntN(2), profile)}
		bounds, err := Bounds(c)
		if err != nil {
			t.Fatal(err)
		}
		room := profile.KVBlocks * 16
		if got, want := bounds[1].KVHit, naiveMIN(tr, room, len(c.Workers)*profile.KVBlocks); math.Abs(got-want) > 1e-12 {
			t.Errorf("seed %d: %v with clairvoyance, want %v", seed, got, want)
		}
		if got, want := bounds[0].KVHit, naiveMIN(tr, room, 1<<30); math.Abs(got-want) > 1e-12 {
			t.Errorf("seed %d: %v with an endless cache, want %v", seed, got, want)
		}
	}
}

// naiveMIN serves a trace from a cache of blocks of 16 tokens that drops what is
// wanted again last.
func naiveMIN(t *trace.Trace, room, capacity int) float64 {
	type name struct{ id, part uint64 }
	paths := make([][]name, len(t.Requests))
	var prompt, served float64
	for row := range t.Requests {
		if r := &t.Requests[row]; r.Input+r.Output-1 <= room {
			prompt += float64(r.Input)
			for i := range r.Input / 16 {
				paths[row] = append(paths[row], name{r.Blocks[i/2] ^ scoped(t, r), uint64(i % 2)})
			}
		}
	}
	next := func(row int, n name) int {
		for k := row + 1; k < len(paths); k++ {
			for _, m := range paths[k] {
				if m == n {
					return k
				}
			}
		}
		return math.MaxInt
	}
	cache := map[name]int{} // depth
	for row, path := range paths {
		hit := 0
		for _, n := range path {
			if _, ok := cache[n]; !ok {
				break
			}
			hit += 16
		}
		served += float64(min(hit, max(0, t.Requests[row].Input-1)/16*16))
		for depth, n := range path {
			cache[n] = depth
		}
		for n := range cache {
			if next(row, n) == math.MaxInt {
				delete(cache, n)
			}
		}
		for len(cache) > capacity {
			var worst name
			at, deep := -1, -1
			for n, depth := range cache {
				if k := next(row, n); k > at || k == at && depth > deep {
					worst, at, deep = n, k, depth
				}
			}
			delete(cache, worst)
		}
	}
	return served / prompt
}

// TestBoundsHold has no strategy beat the bounds on requests that come one by one
// and all fit, and compulsory misses are what an endless cache misses.
func TestBoundsHold(t *testing.T) {
	hits := map[string]float64{}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 6))
		tr := shared(rng, 80)
		profile := tenfold()
		profile.KVBlocks = 12
		for i := range tr.Requests {
			profile.KVBlocks = max(profile.KVBlocks, tr.Requests[i].Input/16+2)
		}
		c := Config{Trace: tr, Workers: Fleet(2, profile), Seed: seed}
		bounds, err := Bounds(c)
		if err != nil {
			t.Fatal(err)
		}
		chains := map[string][]Link{"random": nil, "oracle": Oracle()}
		for _, name := range []string{"round-robin", "sticky", "lmetric"} {
			chains[name] = chain(t, name)
		}
		for name, links := range chains {
			c.Chain = links
			var cached, prompt, compulsory float64
			for _, q := range run(t, c).Requests {
				cached += float64(q.Cached)
				prompt += float64(q.Prompt)
				compulsory += float64(q.Compulsory)
			}
			hits[name] += cached / prompt
			if cached/prompt > bounds[1].KVHit+1e-12 || bounds[1].KVHit > bounds[0].KVHit+1e-12 {
				t.Errorf("seed %d: %s hits %v, with clairvoyance %v, with an endless cache %v", seed, name, cached/prompt, bounds[1].KVHit, bounds[0].KVHit)
			}
			if math.Abs(1-compulsory/prompt-bounds[0].KVHit) > 1e-12 {
				t.Errorf("seed %d: %s misses %v compulsorily, an endless cache hits %v", seed, name, compulsory/prompt, bounds[0].KVHit)
			}
		}
	}
	if hits["oracle"] <= hits["random"] {
		t.Errorf("the oracle hits %v, chance %v", hits["oracle"], hits["random"])
	}
}

// TestOracle goes where the prompt is, unless there is more to compute before it.
func TestOracle(t *testing.T) {
	r := run(t, Config{
		Trace: traffic(
			call(0, 160, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
			call(time.Second, 160, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
			call(time.Second, 1000, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
			call(time.Second, 160, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
		Workers: Fleet(2, tenfold()), Chain: Oracle(),
	})
	w := r.Requests[0].Worker
	for i, want := range []int16{w, w, w, 1 - w} {
		if got := r.Requests[i].Worker; got != want {
			t.Errorf("request %d went to worker %d, want %d", i, got, want)
		}
	}
	if r.Requests[3].Elsewhere != 144 {
		t.Errorf("the last request: %+v", r.Requests[3])
	}
}
