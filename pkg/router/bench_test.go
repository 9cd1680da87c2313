package router

import (
	"fmt"
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
	table := Plan{Version: 1, Workers: refs, Guard: Guard{Of: InFlight, Factor: 1.25, Slack: 16}}
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

// serve is one whole life, placed by the strategy that want names.
func serve(tb testing.TB, c *Core, now Time, r Request, want string) {
	s := c.Arrive(now, r)
	if s.Kind != DoDispatch || s.Receipt.Strategy+" "+s.Receipt.Reason != want {
		tb.Fatalf("step %d by %s %s, want %s", s.Kind, s.Receipt.Strategy, s.Receipt.Reason, want)
	}
	c.FirstToken(now, s.Ticket)
	c.Finish(now, s.Ticket, Ending{Outcome: Completed, Usage: Usage{OutputTokens: 100}})
}

// paths are the ways down the chain that cost no call. Requests without a key
// do not bind, so they reach the rest each time.
var paths = []struct {
	name, want string
	rest       Rest
	key        uint64
}{
	{"table", "table table", Rest{}, 1},
	{"hold", "sticky hold", Rest{}, 5000},
	{"cost", "rest rest", Rest{Order: ByCost, Cost: Row{{InFlight, []float64{4}}, {QueuedTokens, []float64{0.1}}}}, 0},
	{"rendezvous", "rest rest", Rest{Order: ByRendezvous}, 0},
	{"rotation", "rest rest", Rest{Order: ByRotation}, 0},
	{"builtin", BuiltIn + " rest", Rest{}, 0},
}

func BenchmarkDecision(b *testing.B) {
	for _, workers := range []int{16, 1024} {
		for _, p := range paths {
			b.Run(fmt.Sprintf("%s/workers=%d", p.name, workers), func(b *testing.B) {
				c := pathCore(b, workers, p.rest)
				if p.name == "hold" {
					c.Arrive(0, Request{Key: p.key})
				}
				now := Time(0)
				b.ReportAllocs()
				for b.Loop() {
					now += 1000
					serve(b, c, now, Request{ID: "id", Model: "m", Key: p.key, PromptTokens: 1000, MaxTokens: 100}, p.want)
				}
			})
		}
	}
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
			serve(t, c, now, Request{ID: "id", Key: p.key, PromptTokens: 1000}, p.want)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations per request", p.name, n)
		}
	}
}

// BenchmarkTable looks up keys of which half are in the table.
func BenchmarkTable(b *testing.B) {
	for _, keys := range []uint64{100_000, 1_000_000} {
		p := Plan{Version: 1, Workers: []WorkerRef{{ID: "a"}, {ID: "b"}}}
		for key := range keys {
			p.Table.Append(Mix(key), uint16(key%2))
		}
		c, err := Compile(&p)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("lookup/keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			found, n := 0, uint64(0)
			for b.Loop() {
				n += 7919
				if c.members(Mix(n%(2*keys))) != nil {
					found++
				}
			}
			if n > 4*7919 && found == 0 {
				b.Fatal("no key was found")
			}
		})
		b.Run(fmt.Sprintf("compile/keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(&p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExport splits an export of 100,000 keys into what happens under the
// driver's lock and what outside.
func BenchmarkExport(b *testing.B) {
	c := pathCore(b, 16, Rest{})
	for key := range uint64(100_000) {
		serveAny(c, Time(key)*1000, Request{Key: Mix(key), PromptTokens: 1000})
	}
	now := Time(time.Second)
	b.Run("locked", func(b *testing.B) {
		for b.Loop() {
			c.Export(now, 0)
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		build := c.Export(now, 0)
		for b.Loop() {
			build()
		}
	})
	b.Run("marshal", func(b *testing.B) {
		snapshot := c.Export(now, 0)()
		for b.Loop() {
			if _, err := snapshot.MarshalBinary(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func serveAny(c *Core, now Time, r Request) {
	c.Finish(now, c.Arrive(now, r).Ticket, Ending{Outcome: Completed})
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
