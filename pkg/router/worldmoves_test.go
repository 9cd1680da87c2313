package router

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gatewayd/pkg/estimator"
)

func (x *lifetimes) setFleet() {
	x.fleet = x.fleet[:0]
	few := x.rng.IntN(4) == 0
	for i := range 7 {
		if x.rng.IntN(7) == 0 || few && x.rng.IntN(2) == 0 {
			continue
		}
		m := Member{
			Worker: Worker{ID: fmt.Sprint("w", i), Incarnation: x.rng.Uint64N(2), Concurrency: x.rng.IntN(6) - 1, KVTokens: x.rng.IntN(3) * 8192},
			Down:   x.rng.IntN(5) == 0,
			Admit:  max(0, x.rng.IntN(12)-8), KVLimit: max(0, x.rng.IntN(3)-1) * 400,
		}
		if x.rng.IntN(2) == 0 {
			m.Adapters = []string{"a"}
		}
		x.fleet = append(x.fleet, m)
	}
	x.sumPeers()
	before := map[*worker]bool{}
	for _, w := range x.core.workers {
		before[w] = true
	}
	shuffled := append([]Member(nil), x.fleet...)
	x.rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if err := x.core.SetFleet(x.now, shuffled); err != nil {
		x.t.Fatal(err)
	}
	x.index.forget(func(w *worker) bool { return w.slot < 0 })
	for _, w := range x.core.workers {
		if before[w] {
			continue
		}
		if _, ran := x.running[w]; ran || w.inFlight != 0 || w.queued != 0 || w.working.tokens != 0 || w.prefixes != nil {
			x.t.Fatalf("law 13: new life %v of a worker starts with %d in flight, %d tokens queued", w.ref(), w.inFlight, w.queued)
		}
		x.running[w] = 0
	}
}

// plan answers the tasks that are due with random plans, stale ones among them.
func (x *lifetimes) plan() {
	for _, task := range x.core.PlansDue(x.now) {
		in := task.Input()
		x.answered = Mix(x.answered ^ math.Float64bits(in.TotalRate) ^ uint64(len(in.Rates)) ^ in.Seed)
		if x.links[task.Link].down {
			x.t.Fatalf("law 9: %s is planned with while it is down", task.Name)
		}
		if x.rng.IntN(4) == 0 {
			x.core.PlanFailed(x.now, task.Link)
			continue
		}
		var refs []WorkerRef
		for _, w := range in.Fleet.Workers {
			refs = append(refs, WorkerRef{w.ID, w.Incarnation})
		}
		p := randomSource(x.rng).plan(refs, 80)
		if p.Version = task.Version; task.Link != testLinks-1 && x.rng.IntN(2) == 0 {
			p.Rest.Order = Abstain
		}
		x.install(task.Link, p)
	}
}

func (x *lifetimes) install(link int, p *Plan) {
	compiled, err := Compile(p)
	if err != nil {
		x.t.Fatal(err)
	}
	k := &x.links[link]
	if p.Version != k.version+1 {
		x.t.Fatalf("law 8: a plan gets version %d after %d", p.Version, k.version)
	}
	if err := x.core.Install(x.now, link, compiled); err != nil {
		x.t.Fatal(err)
	}
	k.version = p.Version
	if err := x.core.Install(x.now, link, compiled); !errors.Is(err, ErrStale) {
		x.t.Fatalf("law 8: a plan was installed twice: %v", err)
	}
	if inForce, _ := x.core.PlanAt(link); inForce != p {
		x.t.Fatal("law 8: a stale plan is in force")
	}
}

// operate does what operators, peers and processes do.
func (x *lifetimes) operate() {
	peer := fmt.Sprint("peer", x.rng.IntN(4))
	switch link := x.rng.IntN(testLinks); x.rng.IntN(9) {
	case 0:
		x.core.Forget(x.now, x.rng.Uint64N(80))
	case 1:
		id := fmt.Sprint("w", x.rng.IntN(7))
		x.core.ClearCache(x.now, id)
		x.index.forget(func(w *worker) bool { return w.info.ID == id })
	case 2:
		x.peers[peer] = x.snapshot()
		x.core.Import(x.now.Add(time.Duration(x.rng.IntN(10)-9)*time.Second), peer, x.peers[peer])
		x.sumPeers()
	case 3:
		delete(x.peers, peer)
		x.core.DropPeer(peer)
		x.sumPeers()
	case 4:
		x.core.SetLoad(fmt.Sprint("w", x.rng.IntN(7)), Gauge{1, x.now}, Unknown, Gauge{[]float64{0.5, math.NaN(), math.Inf(1)}[x.rng.IntN(3)], x.now})
	case 5, 6:
		x.links[link].down = x.rng.IntN(2) == 0
		if x.core.SetDown(link, x.links[link].down); !x.links[link].down {
			x.links[link].misses = 0
		}
	case 7:
		info := x.core.links[link].info
		info.Cached = x.rng.IntN(2) == 0
		x.core.SetInfo(link, info)
		x.index.off = true
		for i := range x.core.links {
			x.index.off = x.index.off && !x.core.links[i].info.Cached
		}
		x.index.forget(func(*worker) bool { return x.index.off })
	case 8:
		x.now = x.now.Add(-time.Second)
	}
}

// snapshot is another gateway's, with loads that make no sense among them.
func (x *lifetimes) snapshot() Snapshot {
	s := Snapshot{TotalRate: x.rng.Float64(), Rates: []estimator.Rate{{Key: x.rng.Uint64N(80), PerSecond: x.rng.Float64()}}}
	for i := range 7 {
		s.Loads = append(s.Loads, WorkerLoad{WorkerRef{fmt.Sprint("w", i), x.rng.Uint64N(2)}, x.rng.IntN(4) - 1, x.rng.IntN(400) - 100, x.rng.IntN(3000) - 1000})
	}
	return s
}

func (x *lifetimes) tick() {
	if expired := x.core.Tick(x.now); expired != 0 {
		x.t.Fatalf("law 2: %d lives expired before their time", expired)
	}
	known := x.core.Peers()
	for name := range x.peers {
		if !slices.Contains(known, name) {
			delete(x.peers, name) // silent for too long
		}
	}
	x.sumPeers()
	x.core.TakeWrites(nil)
	x.events.take(x, x.core.TakeEvents(routeLink, nil))
}
