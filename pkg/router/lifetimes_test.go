package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// lifetimes drives a core through random lives beside a twin that keeps the
// books slowly and obviously, and holds the core to its laws (numbered as in
// docs/laws.md) after every call.
type lifetimes struct {
	t    *testing.T
	rng  *rand.Rand
	core *Core
	now  Time

	fleet []Member // ordered by ID, as the core's workers
	peers map[string]Snapshot
	load  []WorkerLoad // of the peers, by slot
	sized []int        // of their requests those whose size is told, likewise

	open     []*request // begun and not ended
	byID     map[uint64]*request
	stale    []Ticket
	begun    int
	running  map[*worker]int // by every life of a worker there ever was
	index    *plainIndex
	peak     int // most requests open at once
	links    []linkTwin
	events   eventTwin
	answered uint64 // digest of all answers
}

// request is one life as its driver sees it.
type request struct {
	Request
	number   int
	step     Step
	at       *worker   // while it runs
	tried    []*worker // that failed
	fetched  bool
	notUntil Time // as a strategy wished
	eager    bool
}

// linkTwin is what the driver knows of a strategy.
type linkTwin struct {
	down    bool
	misses  int
	probe   Time
	version uint64
}

const (
	testQueue    = 20
	testHolds    = 50
	testKeys     = 50
	testBlocks   = 200
	testAttempts = 3
	testLinks    = 4
	routeLink    = 2
)

func newLifetimes(t *testing.T, seed uint64) *lifetimes {
	core, err := New(Config{
		Pool: "m", Seed: seed, MaxQueue: testQueue, MaxHolds: testHolds, MaxKeys: testKeys, IndexBlocks: testBlocks,
		MaxLife: 5 * time.Minute, PlanInterval: time.Second, WorkingSet: 2 * time.Second, FetchDeadline: 2 * time.Millisecond,
		Links: []Link{
			{"table", Info{Plans: true, Rates: true, Cached: true}},
			{"sticky", Info{Plans: true}},
			{"route", Info{Routes: true, Blocks: true, Cached: true, Facts: []string{"note"}, Observes: everyKind()}},
			{"rest", Info{Plans: true, Cached: true, Interval: time.Minute}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &lifetimes{
		t: t, rng: rand.New(rand.NewPCG(seed, 9)), core: core,
		peers: map[string]Snapshot{}, byID: map[uint64]*request{}, running: map[*worker]int{}, index: newPlainIndex(testBlocks),
		links: make([]linkTwin, testLinks), events: newEventTwin(),
	}
}

// do makes one random call, or what belongs together.
func (x *lifetimes) do() {
	switch n := x.rng.IntN(1000); {
	case n < 400 && len(x.open) < 60:
		x.arrive()
	case n < 900:
		x.move()
	case n < 960:
		x.late()
	case n < 970:
		x.setFleet()
	case n < 980:
		x.plan()
	case n < 990:
		x.operate()
	default:
		x.tick()
	}
	x.wake()
	x.check()
}

func (x *lifetimes) arrive() {
	r := &request{Request: randomSource(x.rng).request(80), number: x.begun, notUntil: Never}
	r.ID = strconv.Itoa(x.begun)
	switch x.rng.IntN(50) {
	case 0:
		r.PromptTokens = -1 << 62
	case 1:
		r.PromptTokens, r.MaxTokens, r.BlockTokens = 1<<62, -5, 1<<62
	}
	x.begun++
	x.open = append(x.open, r)
	x.peak = max(x.peak, len(x.open))
	x.take(r, x.core.Arrive(x.now, r.Request))
}

// move takes one random open life one random step further.
func (x *lifetimes) move() {
	if len(x.open) == 0 {
		return
	}
	r := x.open[x.rng.IntN(len(x.open))]
	switch r.step.Kind {
	case DoAsk:
		x.answer(r)
	case DoFetch:
		x.take(r, x.core.Fetched(x.now, r.step.Ticket, x.facts(r)))
	case DoWait:
		if x.now >= r.step.Deadline || x.rng.IntN(10) == 0 {
			x.take(r, x.core.Timeout(x.now, r.step.Ticket))
		}
	case DoDispatch:
		x.serve(r)
	}
}

// serve lets something happen to a request that runs.
func (x *lifetimes) serve(r *request) {
	switch x.rng.IntN(7) {
	case 0, 1:
		x.core.FirstToken(x.now, r.step.Ticket)
	case 2:
		x.pause(r)
		x.leave(r)
		r.tried = append(r.tried, r.at)
		r.at = nil
		x.take(r, x.core.Retry(x.now, r.step.Ticket))
	case 3:
		i := x.rng.IntN(7)
		x.core.Dispatched(x.now, r.step.Ticket, fmt.Sprint("w", i))
		if i = x.core.slot(fmt.Sprint("w", i)); i >= 0 {
			x.leave(r)
			if r.at != x.core.workers[i] {
				r.at = x.core.workers[i]
				x.index.insert(r.at, r.Request)
			}
			x.running[r.at]++
		}
	default:
		x.leave(r)
		x.core.Finish(x.now, r.step.Ticket, Ending{
			Outcome: Outcome(x.rng.IntN(3)), Usage: Usage{OutputTokens: x.rng.IntN(50) - 5},
		})
		x.end(r)
	}
}

// pause has the worker of a failed attempt ask for a pause, or for none.
func (x *lifetimes) pause(r *request) {
	asked := []time.Duration{0, -1, 300 * time.Millisecond, 2 * time.Second, 1 << 62}[x.rng.IntN(5)]
	if w := r.at; x.rng.IntN(2) == 0 {
		x.core.Pause(x.now, r.step.Ticket, asked)
		if w.slot >= 0 && (!w.pause.on || w.pause.until <= x.now || w.pause.until > x.now.Add(longestPause*5/4+2*time.Second)) {
			x.t.Fatalf("law 21: worker %v asks for %v and pauses as %+v", w.ref(), asked, w.pause)
		}
	}
}

// answer has the strategy say anything, late now and then.
func (x *lifetimes) answer(r *request) {
	d := Decision{
		Verdict: Verdict(x.rng.IntN(5)), RetryAfter: time.Duration(x.rng.IntN(60)-20) * time.Millisecond,
		Hold:   Hold{TTL: time.Duration(x.rng.IntN(3)-1) * time.Second, Guard: Guard{Of: Feature(x.rng.IntN(3)), Factor: float64(x.rng.IntN(4)) / 2}},
		Writes: []Write{{Fact{FactKey{"note", r.Key}, nil}, time.Duration(x.rng.IntN(2)) * time.Second}},
	}
	for range x.rng.IntN(5) {
		d.Ranking = append(d.Ranking, Placement{Role: Role(x.rng.IntN(8) / 7), Worker: x.rng.IntN(8) - 1, Rank: x.rng.IntN(3) - 1})
	}
	ok := x.rng.IntN(4) > 0
	if k := &x.links[r.step.Link]; ok {
		k.misses = 0
	} else if k.misses++; k.misses >= missesToSkip {
		k.probe = x.now.Add(probeEvery)
	}
	if r.notUntil = Never; ok && d.Verdict == Wait {
		r.eager = d.RetryAfter <= 0
		if r.notUntil = x.now.Add(d.RetryAfter); r.eager {
			r.notUntil = x.now.Add(defaultPark)
		}
	}
	x.take(r, x.core.Answer(x.now, r.step.Ticket, d, ok))
}

// facts are what another gateway may have written, or anybody.
func (x *lifetimes) facts(r *request) []Fact {
	var out []Fact
	for _, key := range r.step.Facts {
		value := []byte("anything")
		if i := x.rng.IntN(len(x.fleet) + 1); i < len(x.fleet) {
			value = encodeRef(x.core.workers[i].ref())
		}
		if x.rng.IntN(2) == 0 {
			out = append(out, Fact{key, value})
		}
	}
	return out
}

// take files a step.
func (x *lifetimes) take(r *request, s Step) {
	if r.step.Ticket != (Ticket{}) {
		x.stale = append(x.stale, r.step.Ticket)
	}
	r.step = s
	x.byID[s.Ticket.ID] = r
	x.answered = Mix(x.answered ^ uint64(s.Kind) ^ HashID(s.Worker.ID+s.Receipt.Reason) ^ Mix(uint64(s.Deadline)) ^ s.Input.Seed)
	switch s.Kind {
	case DoDispatch:
		x.dispatched(r)
	case DoAsk:
		x.asked(r)
	case DoFetch:
		x.fetching(r)
	case DoWait:
		x.waits(r)
	case DoRefuse:
		x.refused(r)
		x.end(r)
	default:
		x.t.Fatalf("law 1: a call with the newest ticket of request %s made step %d", r.ID, s.Kind)
	}
}

func (x *lifetimes) leave(r *request) { x.running[r.at]-- }

func (x *lifetimes) end(r *request) {
	x.stale = append(x.stale, r.step.Ticket)
	delete(x.byID, r.step.Ticket.ID)
	x.open = slices.DeleteFunc(x.open, func(o *request) bool { return o == r })
}

// late makes every call there is with a ticket that is not the newest.
func (x *lifetimes) late() {
	if len(x.stale) == 0 {
		return
	}
	t := x.stale[x.rng.IntN(len(x.stale))]
	before := x.books()
	steps := []Step{
		x.core.Answer(x.now, t, Decision{Verdict: Route, Ranking: []Placement{{}}}, true),
		x.core.Answer(x.now, t, Decision{}, false), x.core.Fetched(x.now, t, nil),
		x.core.Retry(x.now, t), x.core.Timeout(x.now, t),
	}
	x.core.FirstToken(x.now, t)
	x.core.Pause(x.now, t, time.Second)
	x.core.Dispatched(x.now, t, "w0")
	x.core.Finish(x.now, t, Ending{})
	for _, s := range steps {
		if s.Kind != DoNothing {
			x.t.Fatalf("law 5: a late answer made step %d", s.Kind)
		}
	}
	if after := x.books(); after != before {
		x.t.Fatalf("law 5: late calls changed the books from %+v to %+v", before, after)
	}
	if len(x.stale) > 1000 {
		x.stale = x.stale[500:]
	}
}
