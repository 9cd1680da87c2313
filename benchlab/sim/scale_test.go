package sim

import (
	"runtime"
	"testing"
	"time"

	"gatewayd/benchlab/trace"
)

// TestMemory holds that twice the requests need no more than 64 bytes each on top,
// with several gateways, a view of caches and turns that follow answers. What a
// trace itself takes is not counted.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it simulates tens of thousands of requests")
	}
	long := turns(12000)
	short := *long
	short.Requests = long.Requests[:6000]
	held := func(tr *trace.Trace) int {
		c := Config{Trace: tr, Outline: NewOutline(tr), Workers: Fleet(4, tenfold()), Seed: 1}
		c.Open = func(int) ([]Link, error) { return chain(t, "cacheroute", "sticky", "lmetric"), nil }
		c.Chain, _ = c.Open(0)
		c.Options.Gateways, c.Options.Timing = 2, Sessions
		var before, after runtime.MemStats
		l, err := newLab(c)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err := l.laws(); err != nil {
			t.Fatal(err)
		}
		return int(after.HeapAlloc) - int(before.HeapAlloc)
	}
	few, many := held(&short), held(long)
	// The results were there before the run: nothing may grow with it but by chance.
	if grown := many - few; grown > 8*6000 {
		t.Errorf("%d bytes are held after 6,000 requests and %d after 12,000", few, many)
	}
}

// turns are sessions of ten turns, each of which shows a block more. There are 500
// sessions, which begin again and again.
func turns(n int) *trace.Trace {
	t := &trace.Trace{Name: "turns", BlockTokens: 16}
	for i := range n {
		session := uint64(i/1000%5*100 + i%100)
		turn := i % 1000 / 100
		r := trace.Request{At: time.Duration(i) * 60 * ms, Output: 2, Session: session + 1, Input: 16*(turn+2) + 5}
		for k := range turn + 2 {
			r.Blocks = append(r.Blocks, session<<8|uint64(k))
		}
		if turn > 0 {
			r.After, r.Think = []int32{int32(i - 100)}, time.Second
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

// TestManyWorkers runs 1,024 workers and four gateways through faults.
func TestManyWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it simulates 1,024 workers")
	}
	c := Config{Trace: turns(500), Workers: Fleet(1024, tenfold()), Seed: 1}
	c.Open = func(int) ([]Link, error) { return chain(t, "sticky", "least-busy"), nil }
	c.Chain, _ = c.Open(0)
	c.Options.Gateways = 4
	for range 4 {
		for _, text := range []string{"crash:any@any+20s", "gateway-crash:any@any+5s", "drain:any@any+30s", "slow:anyx3@any+30s", "flush:any@any"} {
			f, err := ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			c.Options.Faults = append(c.Options.Faults, f)
		}
	}
	r := run(t, c)
	if len(r.Workers) != 1024 || len(r.Series.Load) != 1024 || len(r.Faults) < 20 {
		t.Errorf("%d workers, %d lines, %d faults", len(r.Workers), len(r.Series.Load), len(r.Faults))
	}
}
