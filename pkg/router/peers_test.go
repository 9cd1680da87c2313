package router

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPeersAddUp has peers come, change and go, and the fleet change beside, and
// adds their loads up afresh each time.
func TestPeersAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	members, _ := benchFleet(6)
	c := mustCore(t, Config{}, members...)
	for round := range 500 {
		now := Time(round) * Time(time.Second)
		name := fmt.Sprint("gateway-", rng.IntN(5))
		switch rng.IntN(6) {
		case 0:
			c.DropPeer(name)
		case 1:
			c.Tick(now)
		case 2:
			members[rng.IntN(len(members))].Incarnation = rng.Uint64N(2)
			if err := c.SetFleet(now, members[:1+rng.IntN(len(members))]); err != nil {
				t.Fatal(err)
			}
		default:
			var s Snapshot
			for range rng.IntN(8) {
				m := members[rng.IntN(len(members))]
				s.Loads = append(s.Loads, WorkerLoad{WorkerRef{m.ID, rng.Uint64N(2)}, rng.IntN(9) - 2, rng.IntN(900) - 100})
			}
			c.Import(now, name, s)
		}
		type load struct{ inFlight, queued int }
		want := map[WorkerRef]load{}
		for _, p := range c.peers {
			for _, l := range p.snapshot.Loads {
				sum := want[l.WorkerRef]
				want[l.WorkerRef] = load{sum.inFlight + max(l.InFlight, 0), sum.queued + max(l.QueuedTokens, 0)}
			}
		}
		total := totals{}
		for _, w := range c.workers {
			if got := (load{w.peers.inFlight, w.peers.queued}); got != want[w.ref()] {
				t.Fatalf("round %d: peers have %+v at %v, want %+v", round, got, w.ref(), want[w.ref()])
			}
			total.add(w)
		}
		if c.totals != total {
			t.Fatalf("round %d: totals %+v, want %+v", round, c.totals, total)
		}
	}
}
