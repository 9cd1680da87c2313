package study

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"gatewayd/benchlab/trace"
)

var recording = sync.OnceValues(func() (*trace.Trace, error) {
	f, err := os.Open("../trace/testdata/recorded/sessions_dev_small84.jsonl.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return trace.Read(f, "sessions_dev_small84", trace.Options{})
})

func sessions(t testing.TB, l Load) *Traffic {
	t.Helper()
	r, err := recording()
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := Sessions(r, l)
	if err != nil {
		t.Fatal(err)
	}
	return traffic
}

func run(t testing.TB, traffic *Traffic, chain string) Result {
	t.Helper()
	r, err := Run(traffic, Fleet{}, chain)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStickyOnAgentSessions holds sticky, as it comes, to its goals on every seed:
// near perfect reuse where caches suffice, about that of one cache as large as all
// where they do not, balance of the prefill work, and a gateway that knows nothing
// agrees on most homes.
func TestStickyOnAgentSessions(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("-short leaves it out: twelve runs over thousands of requests, one goroutine")
	}
	const seeds = 3
	for _, goal := range []struct{ active, hit, imbalance float64 }{{24, 0.92, 1.20}, {40, 0.77, 1.10}} {
		for seed := uint64(1); seed <= seeds; seed++ {
			traffic := sessions(t, Load{Active: goal.active, Seed: seed})
			r, one := run(t, traffic, "sticky"), pooled(traffic)
			agreed := agreement(t, traffic, r)
			t.Logf("%v active, seed %d: hit %.4f, in one cache %.4f, imbalance %.3f, %d moves, a new gateway agrees on %.2f",
				goal.active, seed, r.Hit, one, r.Imbalance, r.Moves, agreed)
			if r.Hit < goal.hit {
				t.Errorf("%v active, seed %d: hit %.4f, want at least %v", goal.active, seed, r.Hit, goal.hit)
			}
			if r.Imbalance > goal.imbalance {
				t.Errorf("%v active, seed %d: imbalance %.3f, want at most %v", goal.active, seed, r.Imbalance, goal.imbalance)
			}
			if agreed < 0.5 {
				t.Errorf("%v active, seed %d: a new gateway agrees on %.2f of the homes", goal.active, seed, agreed)
			}
		}
	}
}

// pooled is the hit rate of one cache as large as those of all workers.
func pooled(traffic *Traffic) float64 {
	f := Fleet{}.withDefaults()
	c, hits, blocks := newCache(f.Workers*f.Blocks, traffic.blocks), 0, 0
	for _, r := range traffic.Requests {
		hits, blocks = hits+c.serve(r.blocks), blocks+len(r.blocks)
	}
	return float64(hits) / float64(blocks)
}

// agreement is the share of sessions that a gateway which starts in the middle, and
// knows nothing, first sends to the worker that the old one sends them to.
func agreement(t *testing.T, traffic *Traffic, old Result) float64 {
	half := *traffic
	middle := len(traffic.Requests) / 2
	half.Requests = traffic.Requests[middle:]
	fresh := run(t, &half, "sticky")
	seen := map[int]bool{}
	agreed := 0
	for i, r := range half.Requests {
		if !seen[r.Session] && fresh.Workers[i] == old.Workers[middle+i] {
			agreed++
		}
		seen[r.Session] = true
	}
	return float64(agreed) / float64(len(seen))
}

// TestSmall runs what the long test runs, on a part, with the race detector too.
func TestSmall(t *testing.T) {
	traffic := sessions(t, Load{Active: 8, Copies: 1, Turns: 60, Seed: 1})
	sticky, rotation := run(t, traffic, "sticky"), run(t, traffic, "round-robin")
	if sticky.Hit < rotation.Hit+0.3 || len(sticky.Workers) != len(traffic.Requests) {
		t.Errorf("hit %.3f with sticky, %.3f with round-robin, %d of %d requests placed", sticky.Hit, rotation.Hit, len(sticky.Workers), len(traffic.Requests))
	}
	if again := run(t, traffic, "sticky"); again.Hit != sticky.Hit || !slices.Equal(again.Workers, sticky.Workers) {
		t.Error("two runs of one traffic differ")
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Sessions(&trace.Trace{Name: "x"}, Load{}); err == nil {
		t.Error("a recording without sessions is taken")
	}
	for _, chain := range []string{"nothing", "sticky:ttl=soon", "sticky+sticky", ""} {
		if _, err := Run(&Traffic{blockTokens: 64}, Fleet{}, chain); err == nil {
			t.Errorf("chain %q is taken", chain)
		}
	}
}

// TestCache compares the cache with a list that is searched from the front.
func TestCache(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + rng.IntN(40)
		c := newCache(limit, 400)
		var plain []uint32 // newest first
		for n := range 400 {
			var prompt []uint32
			start := rng.IntN(8) * 50
			for i := range rng.IntN(50) {
				prompt = append(prompt, uint32(start+i))
			}
			want := 0
			for want < len(prompt) && slices.Contains(plain, prompt[want]) {
				want++
			}
			kept := prompt[:min(len(prompt), limit)]
			plain = slices.DeleteFunc(plain, func(b uint32) bool { return slices.Contains(kept, b) })
			plain = append(slices.Clone(kept), plain...)
			plain = plain[:min(len(plain), limit)]
			if got := c.serve(prompt); got != want {
				t.Fatalf("seed %d, prompt %d of limit %d: %d hits, want %d", seed, n, limit, got, want)
			}
		}
	}
}

// BenchmarkAgentSessions reports hit and imbalance of what may stand alone.
func BenchmarkAgentSessions(b *testing.B) {
	for _, active := range []float64{24, 40} {
		for _, chain := range []string{"round-robin", "chwbl:factor=0", "sticky"} {
			b.Run(fmt.Sprintf("%v/%s", active, chain), func(b *testing.B) {
				var hit, imbalance float64
				seed := uint64(0)
				for b.Loop() {
					seed++
					r := run(b, sessions(b, Load{Active: active, Seed: seed}), chain)
					hit, imbalance = hit+r.Hit, imbalance+r.Imbalance
				}
				b.ReportMetric(hit/float64(seed), "hit")
				b.ReportMetric(imbalance/float64(seed), "imbalance")
			})
		}
	}
}

// TestTraffic checks that gaps are shortened and copies share nothing.
func TestTraffic(t *testing.T) {
	r := &trace.Trace{BlockTokens: 64}
	for i, at := range []time.Duration{0, 10 * time.Second, 10 * time.Minute} {
		r.Requests = append(r.Requests, trace.Request{At: at, Session: 1, Input: 64 * (i + 1), Blocks: []uint64{7, 8, 9}[:i+1]})
	}
	traffic, err := Sessions(r, Load{Copies: 2, Turns: 3, Active: 2})
	if err != nil {
		t.Fatal(err)
	}
	var first, last [2]time.Duration
	blocks := map[uint32]int{}
	for _, q := range traffic.Requests {
		switch len(q.blocks) {
		case 1:
			first[q.Session] = q.At
		case 3:
			last[q.Session] = q.At
		}
		for _, b := range q.blocks {
			if s, ok := blocks[b]; ok && s != q.Session {
				t.Errorf("block %d is in sessions %d and %d", b, s, q.Session)
			}
			blocks[b] = q.Session
		}
	}
	if last[0]-first[0] != 70*time.Second || last[1]-first[1] != 70*time.Second || len(blocks) != 6 {
		t.Errorf("sessions of %v and %v, want 70 s; %d blocks, want 6", last[0]-first[0], last[1]-first[1], len(blocks))
	}
}
