package router

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// pathCore returns a core with a chain of three planned strategies over the
// given number of workers: a table of two members per key, a binding that
// abstains, and a rest. Keys below 1000 are in the table.
func pathCore(tb testing.TB, workers int, rest Rest) *Core {
	tb.Helper()
	c, err := New(Config{Pool: "bench", Seed: 1, Links: []Link{
		{"table", Info{Plans: true}}, {"sticky", Info{Plans: true}}, {"rest", Info{Plans: true}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	members, refs := benchFleet(workers)
	if err := c.SetFleet(0, members); err != nil {
		tb.Fatal(err)
	}
	table := Plan{Version: 1, Workers: refs, Guard: Guard{Of: InFlight, Factor: 1.25, Slack: 64}}
	for key := range uint64(1000) {
		table.Table.Append(key, uint16(key)%uint16(workers), uint16(key+1)%uint16(workers))
	}
	plans := []Plan{table, {Version: 1, Bind: Bind{TTL: time.Hour}}, {Version: 1, Workers: refs, Rest: rest}}
	for i := range plans {
		compiled, err := Compile(&plans[i])
		if err != nil {
			tb.Fatal(err)
		}
		if err := c.Install(0, i, compiled); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

func benchFleet(workers int) (members []Member, refs []WorkerRef) {
	for i := range workers {
		id := fmt.Sprintf("worker-%04d", i)
		members = append(members, Member{Worker: Worker{ID: id, Concurrency: 256}})
		refs = append(refs, WorkerRef{ID: id})
	}
	return members, refs
}

// arrive has a request placed by the link that p names.
func arrive(tb testing.TB, c *Core, now Time, r Request, p path) Ticket {
	s := c.Arrive(now, r)
	if s.Kind != DoDispatch || s.Receipt.Strategy != p.by || s.Receipt.Reason != p.reason {
		tb.Fatalf("step %d by %s %s, want %s %s", s.Kind, s.Receipt.Strategy, s.Receipt.Reason, p.by, p.reason)
	}
	return s.Ticket
}

type path struct {
	name, by, reason string
	rest             Rest
	key              uint64
}

// paths are the ways down the chain that cost no call. Requests without a key
// do not bind, so they reach the rest each time.
var paths = []path{
	{"table", "table", "table", Rest{}, 1},
	{"hold", "sticky", "hold", Rest{}, 5000},
	{"cost", "rest", "rest", Rest{Order: ByCost, Cost: Row{{InFlight, []float64{4}}, {QueuedTokens, []float64{0.1}}}}, 0},
	{"rendezvous", "rest", "rest", Rest{Order: ByRendezvous}, 0},
	{"rotation", "rest", "rest", Rest{Order: ByRotation}, 0},
	{"builtin", BuiltIn, "rest", Rest{}, 0},
}

// BenchmarkDecision measures whole lives, Arrive, FirstToken and Finish, through a
// chain of three strategies and the built-in, 32 of them at a time. "twin" is the
// cost path as one writes it first, without a chain and books, and "reference" a
// loop over the workers that reads one figure of each.
func BenchmarkDecision(b *testing.B) {
	for _, workers := range []int{16, 1024} {
		for _, p := range paths {
			b.Run(fmt.Sprintf("%s/workers=%d", p.name, workers), func(b *testing.B) {
				c := pathCore(b, workers, p.rest)
				if p.name == "hold" {
					c.Arrive(0, Request{Key: p.key})
				}
				r := Request{ID: "id", Model: "m", Key: p.key, PromptTokens: 1000, MaxTokens: 100}
				var open [32]Ticket
				now := Time(0)
				b.ReportAllocs()
				report := onCore(b)
				for b.Loop() {
					now += 1000
					oldest := &open[now/1000%Time(len(open))]
					c.Finish(now, *oldest, Ending{Outcome: Completed, Usage: Usage{OutputTokens: 100}})
					*oldest = arrive(b, c, now, r, p)
					c.FirstToken(now, *oldest)
				}
				report()
			})
		}
		members, _ := benchFleet(workers)
		b.Run(fmt.Sprintf("twin/workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			report := onCore(b)
			for b.Loop() {
				byCost := slices.Clone(members)
				slices.SortFunc(byCost, func(x, y Member) int {
					return cmp.Compare(4*x.Load.InFlight+x.Load.QueuedTokens/10, 4*y.Load.InFlight+y.Load.QueuedTokens/10)
				})
				if byCost[0].ID == "" {
					b.Fatal("no worker")
				}
			}
			report()
		})
		b.Run(fmt.Sprintf("reference/workers=%d", workers), func(b *testing.B) {
			c := pathCore(b, workers, Rest{})
			for b.Loop() {
				sum := 0
				for _, w := range c.workers {
					sum += w.inFlight
				}
				if sum != 0 {
					b.Fatal("load from nowhere")
				}
			}
		})
	}
}

// onCore returns a function that reports what an operation has taken since, in time
// of one core, which the rest of the machine disturbs less than time by the clock.
func onCore(b *testing.B) func() {
	b.Helper()
	spent := func() time.Duration {
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			b.Fatal(err)
		}
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	runtime.GC()
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "core-ns/op") }
}

// TestDecisionsAllocateNothing holds the paths of BenchmarkDecision to it.
func TestDecisionsAllocateNothing(t *testing.T) {
	for _, p := range paths {
		c := pathCore(t, 16, p.rest)
		if p.name == "hold" {
			c.Arrive(0, Request{Key: p.key})
		}
		now := Time(0)
		n := testing.AllocsPerRun(1000, func() {
			now += 1000
			ticket := arrive(t, c, now, Request{ID: "id", Key: p.key, PromptTokens: 1000}, p)
			c.FirstToken(now, ticket)
			c.Finish(now, ticket, Ending{Outcome: Completed, Usage: Usage{OutputTokens: 100}})
		})
		if n != 0 {
			t.Errorf("%s: %v allocations per request", p.name, n)
		}
	}
}

// BenchmarkWake is the cost of a freed worker while 1024 requests wait.
func BenchmarkWake(b *testing.B) {
	c, err := New(Config{Pool: "bench", MaxQueue: 2048})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.SetFleet(0, []Member{{Worker: Worker{ID: "w", Concurrency: 1}}}); err != nil {
		b.Fatal(err)
	}
	running := c.Arrive(0, Request{})
	for range 1024 {
		c.Arrive(0, Request{})
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Finish(0, running.Ticket, Ending{Outcome: Completed})
		for s, ok := c.Wake(0); ok; s, ok = c.Wake(0) {
			running = s
		}
		c.Arrive(0, Request{})
	}
}

// BenchmarkIndex measures a request's Arrive and Finish with the prefix index at
// 16 workers, 32 requests at a time: turns of sessions that go on, and prompts
// without a key that share nothing but their start and push out others. "hold"
// keeps a session where half of its prompt is cached, "uncached" goes where the
// least is to be computed. It reports the index's memory for each block that it
// holds.
func BenchmarkIndex(b *testing.B) {
	plans := map[string]Plan{
		"hold":     {Bind: Bind{TTL: time.Hour, MinCached: 0.5}},
		"uncached": {Rest: Rest{Order: ByCost, Cost: Row{{Uncached, []float64{1}}, {QueuedTokens, []float64{1}}}}},
	}
	for _, size := range []int{512, 128} { // tokens of a trace's blocks, and of live ones
		for _, name := range []string{"hold", "uncached"} {
			for _, kind := range []string{"turns", "fresh"} {
				b.Run(fmt.Sprintf("%s/%s/block=%d", name, kind, size), func(b *testing.B) {
					members, _ := benchFleet(16)
					for i := range members {
						members[i].KVTokens = 400_000
					}
					before := heap()
					c := mustCore(b, Config{Links: []Link{{name, Info{Plans: true, Cached: true}}}}, members...)
					mustInstall(b, c, 0, plans[name])
					var open [32]Ticket
					i, blocks := 0, make([]uint64, 0, 64*512/size)
					arrive := func() {
						r := benchPrompt(i, size, kind == "turns", blocks)
						if i >= len(open) {
							c.Finish(Time(i)*1000, open[i%len(open)], Ending{})
						}
						open[i%len(open)] = c.Arrive(Time(i)*1000, r).Ticket
						i++
					}
					for range 20_000 {
						arrive()
					}
					b.ReportAllocs()
					for b.Loop() {
						arrive()
					}
					b.StopTimer()
					held, after := 0, heap()
					for _, w := range c.workers {
						held += w.prefixes.count
					}
					b.ReportMetric(float64(after-before)/float64(held), "B/block")
				})
			}
		}
	}
}

// benchPrompt is request i: of 12k to 24k tokens, the first 1,536 of which all have
// in common. As a turn it goes on with one of 256 sessions of 16 turns.
func benchPrompt(i, size int, turn bool, blocks []uint64) Request {
	const sessions, turns = 256, 16
	r := Request{PromptTokens: 12288 + i/sessions%turns*768, BlockTokens: size}
	chain := uint64(i)
	if turn {
		r.Key = uint64(i%sessions) + 1
		chain = r.Key + uint64(i/(sessions*turns)*sessions)
	}
	for k := range uint64(r.PromptTokens / size) {
		id := k
		if int(k)*size >= 1536 {
			id = Mix(chain<<16 | k)
		}
		blocks = append(blocks, id)
	}
	r.Blocks = blocks
	return r
}

// heap is the memory in use, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
