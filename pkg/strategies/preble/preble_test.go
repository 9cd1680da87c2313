package preble

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// visit is a request that the twin remembers.
type visit struct {
	part           int64
	worker         string
	key            uint64
	prompt, misses int
}

// TestLikeTwin keeps all requests and works out load, eviction and shifts from
// them afresh each time. Decoding is left out.
func TestLikeTwin(t *testing.T) {
	script.TwinWithMemory(t, Definition(), router.Options{"window": "60s", "rate": "1000", "tpot": "0s", "capacity": "500"}, func() (script.Rule, func(script.Seen, string)) {
		m := &memory{}
		return m.rule, m.told
	})
}

type memory struct {
	history []visit
	routed  int
}

func (m *memory) told(s script.Seen, id string) {
	i := slices.IndexFunc(s.Workers, func(w router.Worker) bool { return w.ID == id })
	m.history = append(m.history, visit{int64(s.Now) / 1e9, id, s.Request.Key, s.Request.PromptTokens, s.Request.PromptTokens - s.Cached[i]})
	m.routed++
}

func (m *memory) rule(s script.Seen) []string {
	const rate, threshold = 1000, 1.5
	part := int64(s.Now) / 1e9
	m.history = slices.DeleteFunc(m.history, func(v visit) bool { return v.part <= part-parts })
	history, routed := m.history, m.routed
	matched := slices.Max(s.Cached)
	exploit := matched > s.Request.PromptTokens-matched
	load := func(i int) (sum float64) {
		for _, v := range history {
			if v.worker == s.Workers[i].ID {
				sum += float64(v.misses) / rate
			}
		}
		return sum
	}
	evicted := func(i int) (sum float64) {
		capacity := s.Workers[i].KVTokens
		if capacity == 0 {
			capacity = 500
		}
		prompts, visits, order := map[uint64]int{}, map[uint64]int{}, []uint64{}
		for _, v := range history {
			if v.worker == s.Workers[i].ID && v.key != 0 {
				prompts[v.key] = v.prompt
				visits[v.key]++
				order = append(slices.DeleteFunc(order, func(k uint64) bool { return k == v.key }), v.key)
			}
		}
		over := s.Request.PromptTokens - s.Cached[i] - capacity
		for _, p := range prompts {
			over += p
		}
		for _, k := range order {
			if over > 0 && k != s.Request.Key {
				over -= prompts[k]
				sum += float64(prompts[k]*visits[k]) / rate
			}
		}
		return sum
	}
	near := func(x, y float64) bool { return x-y < 1e-9 && y-x < 1e-9 }
	best := -1
	for i := range s.Workers {
		if exploit && s.Cached[i] < matched {
			continue
		}
		if cost := load(i) + evicted(i); best < 0 || cost < load(best)+evicted(best) && !near(cost, load(best)+evicted(best)) {
			best = i
		}
	}
	may := []string{}
	for i := range s.Workers { // all that cost the same
		if (!exploit || s.Cached[i] == matched) && near(load(i)+evicted(i), load(best)+evicted(best)) {
			may = append(may, s.Workers[i].ID)
		}
	}
	least := 0
	for i := range s.Workers {
		if load(i) < load(least) {
			least = i
		}
	}
	if work := float64(s.Request.PromptTokens-s.Cached[least]) / rate; exploit && routed >= warmUp*len(s.Workers) {
		for _, id := range slices.Clone(may) {
			i := slices.IndexFunc(s.Workers, func(w router.Worker) bool { return w.ID == id })
			if load(i) > threshold*load(least) && load(i) > load(least)+work {
				may = append(may, s.Workers[least].ID)
			}
		}
	}
	return may
}

func TestMedian(t *testing.T) {
	var m median
	if m.value() != usual {
		t.Errorf("%v without a length", m.value())
	}
	for i := range 500 {
		m.add(i)
	}
	if got := m.value(); got != 436 { // of 373 to 499
		t.Errorf("median %v of the last 127 of 500", got)
	}
}

// TestVisitsAreBounded holds that a key which keeps coming takes no more and more
// memory.
func TestVisitsAreBounded(t *testing.T) {
	var c cache
	for part := range int64(10_000) {
		c.expire(part - parts)
		c.touch(7, 100, part)
		if n := len(c.order.Front().Value.(*held).visits); n > parts+1 {
			t.Fatalf("%d parts are remembered", n)
		}
	}
	for key := range uint64(3 * maxKeys) {
		c.touch(key+1, 10, 10_000)
	}
	if len(c.keys) != maxKeys || c.order.Len() != maxKeys || c.tokens != 10*maxKeys {
		t.Errorf("%d keys, %d in order, %d tokens", len(c.keys), c.order.Len(), c.tokens)
	}
	if got, want := c.evicted(100, c.tokens, 0), 10.0*10; got != want {
		t.Errorf("ten keys of ten tokens and a visit each are driven out: %v, want %v", got, want)
	}
}

func made(t *testing.T, o router.Options) *preble {
	t.Helper()
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	return instance.(*preble)
}

// TestLoadIsLearned holds that decoding is worked out with the median of the outputs
// seen, and that the work of a worker ends with its life and its cache.
func TestLoadIsLearned(t *testing.T) {
	in := router.Input{
		Request: router.Request{PromptTokens: 800},
		Workers: []router.Worker{{ID: "a", Load: router.Load{InFlight: 2}}, {ID: "b"}}, Cached: []int{0, 0},
	}
	p := made(t, nil)
	if got := p.load(in, 0); got != 2*usual*0.15 {
		t.Errorf("load %v s before an output was seen", got)
	}
	for _, tokens := range []int{10, 20, 900} {
		p.Observe([]router.Event{{Kind: router.Finished, Usage: router.Usage{OutputTokens: tokens}}})
	}
	if got := p.load(in, 0); got != 2*20*0.15 {
		t.Errorf("load %v s, want that of two requests of 20 tokens", got)
	}
	for _, kind := range []router.EventKind{router.WorkerGone, router.WorkerRestarted, router.CacheCleared} {
		if d := p.Route(in); d.Ranking[0].Worker != 1 || p.load(in, 1) != 0.1 {
			t.Fatalf("ranking %v, load of b %v s, want b first with 0.1", d.Ranking, p.load(in, 1))
		}
		p.Observe([]router.Event{{Kind: kind, Worker: router.WorkerRef{ID: "b"}}})
		if got := p.load(in, 1); got != 0 {
			t.Errorf("after %v b has a load of %v s", kind, got)
		}
	}
}

// TestExploringDoesNotShift: a request that explores goes where it costs least, though
// another worker has so much less work that a prefix would be copied there.
func TestExploringDoesNotShift(t *testing.T) {
	p := made(t, router.Options{"tpot": "0s", "capacity": "1000"})
	in := router.Input{Workers: []router.Worker{{ID: "a"}, {ID: "b"}}}
	book := func(key uint64, tokens, cached, at int) {
		in.Request, in.Cached = router.Request{Key: key, PromptTokens: tokens}, []int{cached, cached}
		p.sent(in, at)
	}
	book(1, 900, 0, 0)
	book(1, 900, 0, 0) // a has had 1,800 tokens to compute, and room for 100
	book(2, 1000, 0, 1)
	for range 8 {
		book(2, 1000, 1000, 1) // b has had 1,000, and is full of what came nine times
	}
	p.routed = warmUp * 2
	in.Request, in.Cached = router.Request{Key: 3, PromptTokens: 100}, []int{0, 0}
	if d := p.Route(in); d.Reason != "explore" || d.Ranking[0].Worker != 0 {
		t.Errorf("%s: %v, want a, where nothing is driven out", d.Reason, d.Ranking)
	}
}
