package router

import (
	"bytes"
	"testing"
	"time"

	"gatewayd/pkg/estimator"
)

// FuzzSnapshot holds that what is read as a snapshot is written as the same
// bytes, and that no bytes make the reader or the core panic.
func FuzzSnapshot(f *testing.F) {
	for _, s := range []Snapshot{
		{},
		{TotalRate: 2.5, Rates: []estimator.Rate{{Key: 7, PerSecond: 2, Tokens: 100, Mark: 1}, {Key: 1 << 60}}, Loads: []WorkerLoad{{WorkerRef{"w", 1}, 1, 1, 0}}},
		{Loads: []WorkerLoad{{WorkerRef{"w1", 3}, 4, 5000, 7000}, {WorkerRef{"w2", 0}, 0, 0, 0}}},
	} {
		b, err := s.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Snapshot
		if err := s.UnmarshalBinary(b); err != nil {
			return
		}
		again, err := s.MarshalBinary()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("read %x, wrote %x (%v)", b, again, err)
		}
		x := newLifetimes(t, 1)
		x.setFleet()
		x.core.Import(x.now, "peer", s)
		x.core.DropPeer("peer")
		x.check()
	})
}

// FuzzPlan holds that a core executes whatever plan Compile accepts: without
// panic, and with a worker for every request as long as one is eligible.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte("the quick brown fox jumps over the lazy dog, and again over the lazy dog"), true)
	f.Add(bytes.Repeat([]byte{255, 1, 128, 7, 250, 3}, 40), true)
	f.Fuzz(func(t *testing.T, data []byte, wild bool) {
		src := &source{data, wild}
		members, refs := benchFleet(src.n(5))
		for i := range members {
			members[i].Adapters, members[i].KVTokens = []string{"a"}, 1024*src.count(9)
			members[i].Concurrency = src.count(9)
		}
		p := src.plan(refs, 9)
		compiled, err := Compile(p)
		if err != nil {
			if !wild {
				t.Fatalf("a plan of sensible figures was refused: %v", err)
			}
			return
		}
		c, err := New(Config{Pool: "fuzz", Links: []Link{{"plan", Info{Plans: true, Cached: true}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Install(0, 0, compiled); err != nil {
			t.Fatal(err)
		}
		if err := c.SetFleet(0, members[min(1, len(members)):]); err != nil {
			t.Fatal(err)
		}
		now := Time(src.count(1000))
		for range 16 {
			now = now.Add(time.Duration(src.count(1000)) * time.Millisecond)
			open, r := c.totals.open, src.request(9)
			switch s := c.Arrive(now, r); {
			case open > 0 && s.Kind != DoDispatch:
				t.Fatalf("%d workers are free and the step is %d: %s", open, s.Kind, s.Refusal.Reason)
			case s.Kind == DoDispatch && src.flag():
				c.FirstToken(now, s.Ticket)
				c.Finish(now, s.Ticket, Ending{Outcome: Completed, Usage: Usage{OutputTokens: src.count(99)}})
			case s.Kind == DoDispatch && src.flag():
				c.Retry(now, s.Ticket)
			}
			c.Tick(now)
		}
	})
}
