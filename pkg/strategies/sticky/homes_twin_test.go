package sticky

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

const blockTokens = 10

// homes is the slow twin of how sticky chooses homes: it writes everything down
// and adds it up anew for each request.
type homes struct {
	workers  []router.Worker
	spread   float64
	scale    int // prompt tokens over those of its blocks: large prompts whose blocks stay
	sessions map[uint64]*session
	lives    []*sent
	ticked   router.Time
	missed   []float64
	crowded  int               // freed keys for whose prompts there was no room
	cached   []map[uint64]bool // blocks by worker; nothing is evicted but by a flush
	seen     []map[uint64]sent // the last request of each key at each worker
}

// session is where a key lives.
type session struct {
	at    int
	until router.Time
	start uint64 // first block of its last prompt
}

// sent is a request at a worker.
type sent struct {
	ticket         router.Ticket
	at             router.Time
	worker, prompt int
	uncached       int
	answering      bool
}

func newHomes(workers []router.Worker, spread float64, scale int) *homes {
	h := &homes{workers: workers, spread: spread, scale: scale, sessions: map[uint64]*session{}, missed: make([]float64, len(workers))}
	for range workers {
		h.cached, h.seen = append(h.cached, map[uint64]bool{}), append(h.seen, map[uint64]sent{})
	}
	return h
}

// tick forgets what is older than a minute, and half of missed work in ten.
func (h *homes) tick(now router.Time) {
	for w := range h.workers {
		if h.missed[w] *= math.Exp2(-now.Sub(h.ticked).Minutes() / 10); h.missed[w] < 1 {
			h.missed[w] = 0
		}
		for key, s := range h.seen[w] {
			if now.Sub(s.at) > time.Minute {
				delete(h.seen[w], key)
			}
		}
	}
	h.ticked = now
}

func (h *homes) found(w int, blocks []uint64) (n int) {
	for n < len(blocks) && h.cached[w][blocks[n]] {
		n++
	}
	return n
}

func (h *homes) prompt(blocks []uint64) int { return len(blocks) * blockTokens * h.scale }

// working is the working set of a worker.
func (h *homes) working(w int) (tokens int) {
	for _, s := range h.seen[w] {
		tokens += s.prompt
	}
	return tokens
}

// fill is the working set of a worker and more, over its cache.
func (h *homes) fill(w, more int) float64 {
	return float64(h.working(w)+more) / float64(h.workers[w].KVTokens)
}

// crowd is the working set of a worker, weighed by its size, and what waits there.
func (h *homes) crowd(w int) float64 {
	mean, queued := 0.0, 0
	for _, x := range h.workers {
		mean += float64(x.KVTokens) / float64(len(h.workers))
	}
	for _, s := range h.lives {
		if s.worker == w && !s.answering {
			queued += s.uncached
		}
	}
	return float64(h.working(w))*mean/float64(h.workers[w].KVTokens) + queuedWeight*float64(queued)
}

// expect lists the workers that a request may go to.
func (h *homes) expect(now router.Time, key uint64, blocks []uint64) (any []int) {
	freed := false
	if s := h.sessions[key]; s != nil && s.until > now {
		if s.start != blocks[0] || 10*h.found(s.at, blocks) >= 3*len(blocks) {
			return []int{s.at}
		}
		freed = true
		delete(h.seen[s.at], key)
	}
	var limits []float64
	total := 0.0
	for w := range h.workers {
		limits = append(limits, h.crowd(w)+missedWeight*h.missed[w])
		total += limits[w]
	}
	var open []int
	for w := range h.workers {
		if limits[w] <= h.spread*total/float64(len(h.workers)) {
			open = append(open, w)
		}
	}
	full := func(w int) bool { return h.fill(w, h.prompt(blocks)) > 1.2 }
	better := func(a, b int) bool {
		return router.Rendezvous(key, router.HashID(h.workers[a].ID)) > router.Rendezvous(key, router.HashID(h.workers[b].ID))
	}
	switch roomy := slices.DeleteFunc(slices.Clone(open), full); {
	case freed && len(roomy) == 0:
		h.crowded++
		better = func(a, b int) bool { return h.fill(a, 0) > h.fill(b, 0) }
	case freed:
		open, better = roomy, func(a, b int) bool { return h.crowd(a) < h.crowd(b) }
	}
	for _, w := range open {
		if !slices.ContainsFunc(open, func(other int) bool { return better(other, w) }) {
			any = append(any, w)
		}
	}
	return any
}

func (h *homes) dispatched(now router.Time, t router.Ticket, w int, key uint64, blocks []uint64) {
	prompt := h.prompt(blocks)
	s := sent{ticket: t, at: now, worker: w, prompt: prompt, uncached: prompt - h.found(w, blocks)*blockTokens}
	for _, b := range blocks {
		h.cached[w][b] = true
	}
	h.missed[w] += float64(s.uncached)
	h.seen[w][key] = s
	h.sessions[key] = &session{w, now.Add(5 * time.Minute), blocks[0]}
	h.lives = append(h.lives, &s)
}

// TestHomesLikeTwin sends growing, changing and returning prompts of sessions to
// workers of unequal caches, which are flushed now and then and, on some seeds, have
// too little room.
func TestHomesLikeTwin(t *testing.T) {
	crowded := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		spread := []float64{1, 1.15, 2}[rng.IntN(3)]
		g := newGateway(t, router.Options{"escape": "off", "spread": fmt.Sprint(spread)})
		var members []router.Member
		var workers []router.Worker
		for i := range 2 + rng.IntN(5) {
			workers = append(workers, router.Worker{ID: fmt.Sprint("w", i), KVTokens: 1 << (18 + rng.IntN(3))})
			members = append(members, router.Member{Worker: workers[i]})
		}
		g.join(members)
		h := newHomes(workers, spread, []int{1, 1000}[rng.IntN(2)])
		lengths, freed := map[uint64]int{}, 0
		for n := range 600 {
			g.now = g.now.Add(time.Duration(rng.Int64N(int64(2 * time.Second))))
			if rng.IntN(3) == 0 {
				g.core.Tick(g.now)
				h.tick(g.now)
			}
			if rng.IntN(40) == 0 {
				w := rng.IntN(len(workers))
				g.core.ClearCache(g.now, workers[w].ID)
				clear(h.cached[w])
			}
			h.end(g, rng)
			key := 1 + rng.Uint64N(30)
			if lengths[key] += rng.IntN(8) + 1; rng.IntN(20) == 0 {
				lengths[key] = 1
			}
			blocks := make([]uint64, lengths[key])
			for i := range blocks {
				blocks[i] = router.Mix(key<<32 | uint64(lengths[key]/60)<<16 | uint64(i)) // rewritten when long
			}
			living := h.sessions[key] != nil && h.sessions[key].until > g.now
			want := h.expect(g.now, key, blocks)
			step := g.core.Arrive(g.now, router.Request{Key: key, PromptTokens: h.prompt(blocks), Blocks: blocks, BlockTokens: blockTokens})
			got := slices.IndexFunc(workers, func(w router.Worker) bool { return w.ID == step.Worker.ID })
			if !slices.Contains(want, got) {
				t.Fatalf("seed %d, request %d of key %d: worker %d by %s, want one of %v", seed, n, key, got, step.Receipt.Reason, want)
			}
			if living && step.Receipt.Reason == "rest" {
				freed++
			}
			h.dispatched(g.now, step.Ticket, got, key, blocks)
		}
		if freed < 10 {
			t.Errorf("seed %d: only %d keys were freed: the test tests little", seed, freed)
		}
		crowded += h.crowded
	}
	if crowded < 10 {
		t.Errorf("only %d keys found no room: the test tests little", crowded)
	}
}

// end gives some requests their first token and ends others.
func (h *homes) end(g *gateway, rng *rand.Rand) {
	for len(h.lives) > 0 && rng.IntN(2) == 0 {
		i := rng.IntN(len(h.lives))
		s := h.lives[i]
		if !s.answering {
			g.core.FirstToken(g.now, s.ticket)
			s.answering = true
			continue
		}
		g.core.Finish(g.now, s.ticket, router.Ending{Outcome: router.Completed})
		h.lives = slices.Delete(h.lives, i, i+1)
	}
}
