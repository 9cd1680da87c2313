package sim

import (
	"fmt"
	"slices"

	"gatewayd/pkg/router"
)

// gateway drives one core as a gateway does.
type gateway struct {
	number int32
	core   *router.Core
	chain  []strategy
	life   uint64 // counts its starts; events of earlier lives are stale
	downs  int    // crashes that are not over
	cuts   int    // from the shared store

	waiting map[uint64]int32 // slots of jobs in the core's queue, by ticket ID
	queued  int              // of them, as the series knows
	touched bool             // listed in lab.touched
	named   bool             // some strategy sees requests by their names
	events  []router.Event
	writes  []router.Write

	fence  uint64      // of the planning lease; 0: another gateway plans
	fenced router.Time // when the fence was given
	solo   bool        // it plans alone
	heard  []bool      // gateways whose figures it has
}

// openGateways starts the gateways at time 0.
func (l *lab) openGateways() error {
	n := l.config.Options.Gateways
	l.gateways = make([]gateway, n)
	l.store.init(n, len(l.config.Chain))
	l.tallies, l.tables = make([]tally, len(l.config.Chain)), make([]table, len(l.config.Chain))
	for i := range n {
		g := &l.gateways[i]
		g.number = int32(i)
		chain := l.config.Chain
		if i > 0 {
			var err error
			if chain, err = l.chainFor(i); err != nil {
				return err
			}
		}
		if err := l.open(g, chain); err != nil {
			return err
		}
	}
	return nil
}

// chainFor makes the chain of a gateway that starts later than the first.
func (l *lab) chainFor(n int) ([]Link, error) {
	if len(l.config.Chain) == 0 {
		return nil, nil
	}
	chain, err := l.config.Open(n)
	if err != nil {
		return nil, fmt.Errorf("simulation: chain of gateway %d: %w", n, err)
	}
	same := func(a, b Link) bool { return a.Name == b.Name }
	if !slices.EqualFunc(chain, l.config.Chain, same) {
		return nil, fmt.Errorf("simulation: gateway %d has other strategies than the first one", n)
	}
	for _, k := range chain {
		if err := Check(k.Name, k.Instance); err != nil {
			return nil, err
		}
	}
	return chain, nil
}

// open starts a gateway, which knows nothing but the fleet.
func (l *lab) open(g *gateway, chain []Link) error {
	shared := len(l.gateways) > 1
	g.life++
	*g = gateway{number: g.number, life: g.life, cuts: g.cuts, waiting: map[uint64]int32{}, solo: !shared, heard: make([]bool, len(l.gateways))}
	purpose := "core"
	if g.number > 0 || g.life > 1 {
		purpose = fmt.Sprintf("core %d life %d", g.number, g.life)
	}
	// A simulated request never gets lost, however long it takes.
	config := router.Config{Pool: "sim", Seed: stream(l.config.Seed, purpose), MaxLife: 1<<63 - 1, FetchDeadline: fetchBudget, Alone: !shared}
	if shared {
		config.PeerLife = max(minPeerLife, leaseIntervals*l.config.Options.SyncInterval)
	}
	for _, k := range chain {
		info := k.Instance.Info()
		config.Links = append(config.Links, router.Link{Name: k.Name, Info: info})
		g.chain = append(g.chain, newStrategy(k))
		if o, ok := k.Instance.(*oracle); ok {
			o.lab = l
		}
		g.named = g.named || info.Routes || len(info.Observes) > 0
	}
	var err error
	if g.core, err = router.New(config); err != nil {
		return err
	}
	l.up = append(l.up, g.number)
	slices.Sort(l.up)
	if err := l.setFleet(g); err != nil {
		return err
	}
	phase := func(interval int64) router.Time {
		return l.now + router.Time(interval*int64(g.number)/int64(len(l.gateways)))
	}
	l.agenda.add(event{at: phase(int64(l.config.Options.ScrapeInterval)), kind: scrapes, who: g.number, turn: g.life})
	if shared {
		l.agenda.add(event{at: phase(int64(l.config.Options.SyncInterval)), kind: syncs, who: g.number, turn: g.life})
	}
	return nil
}

// gatewayEvent makes happen what was planned for a gateway, unless it has
// crashed since.
func (l *lab) gatewayEvent(e event) {
	g := &l.gateways[e.who]
	if g.downs > 0 || g.life != e.turn&(1<<linkShift-1) {
		return
	}
	switch e.kind {
	case planReady:
		l.planReady(g, int(e.turn>>linkShift))
	case scrapes:
		l.scrape(g)
		l.agenda.add(event{at: l.now.Add(l.config.Options.ScrapeInterval), kind: scrapes, who: e.who, turn: e.turn})
	case syncs:
		l.exchange(g)
		l.agenda.add(event{at: l.now.Add(l.config.Options.SyncInterval), kind: syncs, who: e.who, turn: e.turn})
	case plans:
		l.plan(g)
	case wakes:
		l.touch(g)
	}
}

// linkShift is where a plan's link stands in an event's turn, above the life.
const linkShift = 32

// setFleet tells a gateway of the workers as far as gateways know, with the
// grid's intensity as of now.
func (l *lab) setFleet(g *gateway) error {
	members := make([]router.Member, 0, len(l.machines))
	for i := range l.machines {
		m := &l.machines[i]
		if m.known.incarnation == 0 {
			continue
		}
		w := router.Member{Worker: l.config.Workers[i].Worker, Down: m.known.down || m.known.draining}
		w.Incarnation = m.known.incarnation
		if c := &w.Carbon.GramsPerKWh; c.Known() {
			c.At = l.now
		}
		members = append(members, w)
	}
	if err := g.core.SetFleet(l.now, members); err != nil {
		return err
	}
	l.planAt(g, l.now)
	l.touch(g)
	return nil
}

// refleet tells every gateway of the workers.
func (l *lab) refleet() {
	for _, n := range l.up {
		if err := l.setFleet(&l.gateways[n]); err != nil {
			l.broken("%v", err)
		}
	}
}

// touch has a gateway's queue and writes looked at before anything else happens.
func (l *lab) touch(g *gateway) {
	if !g.touched {
		g.touched = true
		l.touched = append(l.touched, g.number)
	}
}

// settle lets waiting requests go on, as far as workers are free, and stores facts.
func (l *lab) settle() {
	for i := 0; i < len(l.touched); i++ {
		g := &l.gateways[l.touched[i]]
		g.touched = false
		if g.downs > 0 {
			continue
		}
		l.wake(g)
		l.storeWrites(g)
		if n := g.core.Waiting(); n != g.queued {
			l.series.change(l.now, len(l.machines), n-g.queued)
			g.queued = n
		}
	}
	l.touched = l.touched[:0]
}

// deliver gives every strategy of a gateway the events that it observes.
func (l *lab) deliver(g *gateway) {
	for i := range g.chain {
		g.observe(i)
	}
}

func (g *gateway) observe(i int) {
	if g.chain[i].observer == nil {
		return
	}
	if g.events = g.core.TakeEvents(i, g.events[:0]); len(g.events) > 0 {
		g.chain[i].observer.Observe(slices.Clone(g.events))
	}
}
