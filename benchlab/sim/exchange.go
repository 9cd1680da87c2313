package sim

import (
	"fmt"
	"time"

	"gatewayd/pkg/router"
)

// exchange does one round of a gateway with the shared store. Cut off from it,
// the gateway goes on alone and plans for itself.
func (l *lab) exchange(g *gateway) {
	led := g.plans()
	if g.solo = g.cuts > 0; g.solo {
		g.fence = 0
		if !led {
			l.planAt(g, l.now)
		}
		return
	}
	life := leaseIntervals * l.config.Options.SyncInterval
	if err := l.exchangeFigures(g, life); err != nil {
		l.broken("gateway %d: %v", g.number, err)
		return
	}
	fence := l.store.acquire(l.now, g.number, life)
	if fence != g.fence {
		g.fence, g.fenced = fence, l.now
	}
	if g.fence > 0 && !led {
		l.planAt(g, l.now)
	}
	l.adopt(g)
	l.touch(g)
}

// exchangeFigures tells of this gateway's figures, in the packed form that live
// ones send, and hears the others'.
func (l *lab) exchangeFigures(g *gateway, life time.Duration) error {
	b, err := g.core.Export(l.now, rateFloor)().MarshalBinary()
	if err != nil {
		return err
	}
	mine := &l.store.figures[g.number]
	var s router.Snapshot
	if err := s.UnmarshalBinary(b); err != nil {
		return err
	}
	*mine = figures{s, l.now, l.now.Add(life)}
	for i := range l.store.figures {
		f := &l.store.figures[i]
		if int32(i) == g.number {
			continue
		}
		if f.until > l.now {
			g.core.Import(f.taken, peerName(i), f.snapshot)
		} else if g.heard[i] {
			g.core.DropPeer(peerName(i))
		}
		g.heard[i] = f.until > l.now
	}
	return nil
}

func peerName(i int) string { return fmt.Sprintf("gateway-%02d", i) }

// adopt puts newer plans of the planner in force.
func (l *lab) adopt(g *gateway) {
	for link := range l.store.plans {
		p := &l.store.plans[link]
		if known, _ := g.core.PlanAt(link); p.plan == nil || known != nil && known.Version >= p.version {
			continue
		}
		// A newer one that the gateway had alone before stays in force.
		if err := g.core.Install(l.now, link, p.plan); err == nil {
			l.planAt(g, l.now.Add(g.chain[link].interval))
		}
	}
}

// storeWrites takes the facts that a gateway wants to keep. What it cannot store is lost.
func (l *lab) storeWrites(g *gateway) {
	g.writes = g.core.TakeWrites(g.writes[:0])
	if g.cuts == 0 {
		l.store.write(l.now, g.writes)
	}
}
