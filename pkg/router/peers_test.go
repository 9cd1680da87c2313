package router

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPeersAddUp has peers come, change and go and be told, and the fleet change and
// requests come beside, and adds the loads up afresh each time.
func TestPeersAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	members, _ := benchFleet(6)
	c := mustCore(t, Config{}, members...)
	for round := range 500 {
		now := Time(round) * Time(time.Second)
		name := fmt.Sprint("gateway-", rng.IntN(5))
		switch rng.IntN(9) {
		case 0:
			c.DropPeer(name)
		case 1:
			c.Tick(now)
		case 3:
			c.Arrive(now, Request{PromptTokens: rng.IntN(900)})
		case 4:
			c.Export(now, 0)()
		case 2:
			members[rng.IntN(len(members))].Incarnation = rng.Uint64N(2)
			if err := c.SetFleet(now, members[:1+rng.IntN(len(members))]); err != nil {
				t.Fatal(err)
			}
		default:
			var s Snapshot
			for range rng.IntN(8) {
				m := members[rng.IntN(len(members))]
				s.Loads = append(s.Loads, WorkerLoad{WorkerRef{m.ID, rng.Uint64N(2)}, rng.IntN(9) - 2, rng.IntN(900) - 100, rng.IntN(900) - 100})
			}
			c.Import(now, name, s)
		}
		want := map[WorkerRef]peersLoad{}
		for _, p := range c.peers {
			for _, l := range p.snapshot.Loads {
				sum := want[l.WorkerRef]
				sum.inFlight += max(l.InFlight, 0)
				sum.queued += max(l.QueuedTokens, 0)
				if l.HeldTokens > 0 {
					sum.held += l.HeldTokens
					sum.sized += max(l.InFlight, 0)
				}
				want[l.WorkerRef] = sum
			}
		}
		total := totals{}
		for _, w := range c.workers {
			if got := w.peers; got != want[w.ref()] {
				t.Fatalf("round %d: peers have %+v at %v, want %+v", round, got, w.ref(), want[w.ref()])
			}
			total.add(w)
		}
		if c.totals != total {
			t.Fatalf("round %d: totals %+v, want %+v", round, c.totals, total)
		}
	}
}
