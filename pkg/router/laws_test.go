package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// lifetimes drives a core through random lives and checks its laws (numbered
// as in docs/laws.md) after every call.
type lifetimes struct {
	t      *testing.T
	rng    *rand.Rand
	core   *Core
	now    Time
	open   map[uint64]Step // by ticket ID: the newest step
	stale  []Ticket
	fleet  []Member
	begun  int
	ended  int
	asked  map[uint64][]WorkerRef // what the strategy was shown
	tokens map[uint64]int
}

func newLifetimes(t *testing.T, seed uint64) *lifetimes {
	route := Info{Name: "route", Routes: true, Facts: []string{"note"}, Observes: []EventKind{Dispatched, Finished}}
	sticky := Info{Name: "sticky", Plans: true}
	table := Info{Name: "table", Plans: true, Rates: true, Cached: true}
	core, err := New(Config{Pool: "m", Seed: seed, MaxQueue: 20, MaxHolds: 50, MaxKeys: 50, MaxLife: 5 * time.Minute, FetchDeadline: 2 * time.Millisecond,
		Links: []Link{{"table", table}, {"sticky", sticky}, {"route", route}}})
	if err != nil {
		t.Fatal(err)
	}
	return &lifetimes{t: t, rng: rand.New(rand.NewPCG(seed, 9)), core: core, open: map[uint64]Step{}, asked: map[uint64][]WorkerRef{}, tokens: map[uint64]int{}}
}

func (x *lifetimes) setFleet() {
	x.fleet = x.fleet[:0]
	for i := range x.rng.IntN(6) {
		x.fleet = append(x.fleet, Member{
			Worker: Worker{ID: fmt.Sprintf("w%d", i), Incarnation: x.rng.Uint64N(2), Concurrency: x.rng.IntN(5), KVTokens: 4096},
			Down:   x.rng.IntN(5) == 0, Adapters: []string{"a"},
		})
	}
	if err := x.core.SetFleet(x.now, x.fleet); err != nil {
		x.t.Fatal(err)
	}
}

func (x *lifetimes) plan() {
	for _, task := range x.core.PlansDue(x.now) {
		in := task.Input()
		if x.rng.IntN(4) == 0 {
			x.core.PlanFailed(x.now, task.Link)
			continue
		}
		p := &Plan{Version: task.Version, Guard: Guard{Of: InFlight, Factor: 1.25, Slack: 2}}
		for _, w := range in.Fleet.Workers {
			p.Workers = append(p.Workers, WorkerRef{w.ID, w.Incarnation})
		}
		if task.Name == "sticky" {
			p.Bind = Bind{TTL: time.Minute, Keep: x.rng.IntN(2) == 0}
		} else if n := len(p.Workers); n > 0 {
			for _, r := range in.Rates {
				if x.rng.IntN(2) == 0 {
					p.Table.Append(r.Key, uint16(x.rng.IntN(n)))
				}
			}
		}
		compiled, err := Compile(p)
		if err != nil {
			x.t.Fatal(err)
		}
		if err := x.core.Install(x.now, task.Link, compiled); err != nil {
			x.t.Fatal(err)
		}
	}
}

// take files a step: law 1 (one ending) and law 4 (no ineligible worker).
func (x *lifetimes) take(s Step) {
	old, had := x.open[s.Ticket.ID]
	if had {
		x.stale = append(x.stale, old.Ticket)
	}
	switch s.Kind {
	case DoNothing:
		x.t.Fatal("a call with the newest ticket did nothing")
	case DoRefuse:
		delete(x.open, s.Ticket.ID)
		x.ended++
		x.stale = append(x.stale, s.Ticket)
	case DoDispatch:
		i := slices.IndexFunc(x.fleet, func(m Member) bool { return m.ID == s.Worker.ID })
		if i < 0 || x.fleet[i].Incarnation != s.Worker.Incarnation || x.fleet[i].Down {
			x.t.Fatalf("law 4: dispatched to %v, which is not an eligible worker of %v", s.Worker, x.fleet)
		}
		if limit, load := x.fleet[i].Concurrency, x.core.workers[x.core.slot(s.Worker.ID)].load(); limit > 0 && load > limit {
			x.t.Fatalf("law 4: worker %v has %d in flight, its limit is %d", s.Worker, load, limit)
		}
		x.open[s.Ticket.ID] = s
	default:
		x.open[s.Ticket.ID] = s
	}
}

func (x *lifetimes) arrive() {
	r := Request{ID: "r", Key: x.rng.Uint64N(80), PromptTokens: x.rng.IntN(2000), MaxTokens: x.rng.IntN(100), Priority: x.rng.IntN(3), BlockTokens: 128}
	for i := range r.PromptTokens / 128 {
		r.Blocks = append(r.Blocks, Mix(r.Key+uint64(i)))
	}
	if x.rng.IntN(10) == 0 {
		r.Adapter = "a"
	}
	x.begun++
	x.take(x.core.Arrive(x.now, r))
}

// move takes one random open life one random step further.
func (x *lifetimes) move() {
	ids := make([]uint64, 0, len(x.open))
	for id := range x.open {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	s := x.open[ids[x.rng.IntN(len(ids))]]
	switch s.Kind {
	case DoAsk:
		if len(s.Input.Workers) == 0 {
			x.t.Fatal("asked without an eligible worker")
		}
		d := Decision{Verdict: Verdict(x.rng.IntN(5)), RetryAfter: time.Duration(x.rng.IntN(3)) * time.Millisecond, Hold: Hold{TTL: time.Duration(x.rng.IntN(2)) * time.Second}}
		for range x.rng.IntN(4) {
			d.Ranking = append(d.Ranking, Placement{Role: Role(x.rng.IntN(2)), Worker: x.rng.IntN(8) - 1, Rank: x.rng.IntN(2)})
		}
		x.take(x.core.Answer(x.now, s.Ticket, d, x.rng.IntN(5) > 0))
	case DoFetch:
		var facts []Fact
		if len(x.fleet) > 0 {
			m := x.fleet[x.rng.IntN(len(x.fleet))]
			facts = append(facts, Fact{s.Facts[0], encodeRef(WorkerRef{m.ID, m.Incarnation})})
		}
		x.take(x.core.Fetched(x.now, s.Ticket, facts))
	case DoWait:
		if x.now >= s.Deadline || x.rng.IntN(10) == 0 {
			x.take(x.core.Timeout(x.now, s.Ticket))
		}
	case DoDispatch:
		switch x.rng.IntN(6) {
		case 0:
			x.core.FirstToken(x.now, s.Ticket)
		case 1:
			x.take(x.core.Retry(x.now, s.Ticket))
		case 2:
			if len(x.fleet) > 0 {
				x.core.Dispatched(x.now, s.Ticket, x.fleet[x.rng.IntN(len(x.fleet))].ID)
			}
		default:
			x.core.Finish(x.now, s.Ticket, Ending{Outcome: Outcome(x.rng.IntN(3)), Usage: Usage{OutputTokens: x.rng.IntN(50)}})
			delete(x.open, s.Ticket.ID)
			x.stale = append(x.stale, s.Ticket)
			x.ended++
		}
	}
	for {
		s, ok := x.core.Wake(x.now)
		if !ok {
			break
		}
		x.take(s)
	}
}

// late checks law 5: an answer that comes late has no effect.
func (x *lifetimes) late() {
	if len(x.stale) == 0 {
		return
	}
	t := x.stale[x.rng.IntN(len(x.stale))]
	before := x.sums()
	if s := x.core.Answer(x.now, t, Decision{Verdict: Route, Ranking: []Placement{{}}}, true); s.Kind != DoNothing {
		x.t.Fatalf("law 5: late answer made step %v", s.Kind)
	}
	x.core.FirstToken(x.now, t)
	x.core.Finish(x.now, t, Ending{})
	if s := x.core.Retry(x.now, t); s.Kind != DoNothing {
		x.t.Fatalf("law 5: late retry made step %v", s.Kind)
	}
	if after := x.sums(); after != before {
		x.t.Fatalf("law 5: late calls changed the books from %v to %v", before, after)
	}
	if len(x.stale) > 1000 {
		x.stale = x.stale[500:]
	}
}

type sums struct{ lives, inFlight, queued int }

func (x *lifetimes) sums() sums {
	s := sums{lives: x.core.Lives()}
	for _, w := range x.core.workers {
		s.inFlight += w.inFlight
		s.queued += w.queued
	}
	return s
}

func (x *lifetimes) check() {
	running := 0
	for _, s := range x.open {
		if s.Kind == DoDispatch {
			running++
		}
	}
	want := totals{}
	known := 0
	for _, w := range x.core.workers {
		if w.inFlight < 0 || w.queued < 0 {
			x.t.Fatalf("law 3: worker %v has %d in flight and %d tokens queued", w.ref(), w.inFlight, w.queued)
		}
		known += w.inFlight
		if !w.info.Down {
			want.up++
			want.inFlight += w.load()
			want.queued += w.tokens()
		}
	}
	if known > running {
		x.t.Fatalf("law 3: %d in flight, %d dispatched", known, running)
	}
	if x.core.totals != want {
		x.t.Fatalf("totals are %+v, the workers sum to %+v", x.core.totals, want)
	}
	if x.core.Lives() != len(x.open) || x.begun-x.ended != len(x.open) {
		x.t.Fatalf("law 1: %d lives, %d open, %d begun, %d ended", x.core.Lives(), len(x.open), x.begun, x.ended)
	}
	if x.core.Waiting() > 20 || x.core.Holds(1) > 50 || x.core.rates.Len() > 50 {
		x.t.Fatalf("law 6: queue %d, holds %d, keys %d", x.core.Waiting(), x.core.Holds(1), x.core.rates.Len())
	}
}

func TestLawsOverRandomLifetimes(t *testing.T) {
	const lives = 100_000
	for seed := range uint64(4) {
		x := newLifetimes(t, seed)
		x.setFleet()
		for x.begun < lives/4 {
			x.now = x.now.Add(time.Duration(x.rng.IntN(20)) * time.Millisecond)
			switch n := x.rng.IntN(100); {
			case n < 40 && len(x.open) < 60:
				x.arrive()
			case n == 97:
				x.setFleet()
			case n == 98:
				x.plan()
			case n == 99:
				if expired := x.core.Tick(x.now); expired != 0 {
					t.Fatalf("%d lives expired before their time", expired)
				}
				x.core.TakeWrites(nil)
				x.core.TakeEvents(2, nil)
			case n > 90:
				x.late()
			default:
				x.move()
			}
			x.check()
		}
		// Law 2: endings never reported expire, and then nothing is left.
		x.now = x.now.Add(10 * time.Minute)
		if expired := x.core.Tick(x.now); expired != len(x.open) {
			t.Fatalf("law 2: %d of %d unreported lives expired", expired, len(x.open))
		}
		if s := x.sums(); s != (sums{}) {
			t.Fatalf("law 3: idle, but the books say %+v", s)
		}
	}
}
