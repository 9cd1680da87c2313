package router

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/estimator"
)

func mustCore(t testing.TB, cfg Config, members ...Member) *Core {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	return c
}

func mustInstall(t testing.TB, c *Core, link int, p Plan) {
	t.Helper()
	if p.Version == 0 {
		p.Version = c.links[link].version + 1
	}
	compiled, err := Compile(&p)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Install(0, link, compiled); err != nil {
		t.Fatal(err)
	}
}

// TestStoresAreBounded fills every store beyond its bound.
func TestStoresAreBounded(t *testing.T) {
	c := mustCore(t, Config{
		MaxQueue: 3, MaxHolds: 10, MaxKeys: 10, IndexBlocks: 8, FetchDeadline: time.Millisecond,
		Links: []Link{{"sticky", Info{Plans: true, Cached: true, Observes: everyKind()}}},
	}, Member{Worker: Worker{ID: "w", Concurrency: 5}})
	mustInstall(t, c, 0, Plan{Bind: Bind{TTL: time.Hour}, Rest: Rest{Order: ByCost, Cost: Row{{WorkingSet, []float64{1}}}}})
	for i := range uint64(maxPending + maxWorkingKeys) {
		r := Request{Key: i + 1, PromptTokens: 10, Blocks: []uint64{i, i + 1, i + 2}, BlockTokens: 1}
		s := c.Arrive(Time(i), r)
		c.Finish(Time(i), c.Fetched(Time(i), s.Ticket, nil).Ticket, Ending{})
	}
	w := c.workers[0]
	if n := w.prefixes.count; n != 8 || c.Holds(0) != 10 || c.rates.Len() != 10 {
		t.Errorf("law 6: %d blocks, %d holds, %d keys", n, c.Holds(0), c.rates.Len())
	}
	if w.working.keys.len() != maxWorkingKeys || w.working.tokens != 10*maxWorkingKeys {
		t.Errorf("law 6: working set of %d keys and %d tokens", w.working.keys.len(), w.working.tokens)
	}
	dropped := c.Dropped()
	if dropped.Holds != maxPending+maxWorkingKeys-10 {
		t.Errorf("law 6: %+v dropped, want all holds but 10", dropped)
	}
	if n := len(c.TakeEvents(0, nil)); n != maxPending || dropped.Events != c.events-maxPending {
		t.Errorf("law 6: %d events pending, %+v dropped of %d", n, dropped, c.events)
	}
	if n := len(c.TakeWrites(nil)); n != maxPending || dropped.Writes != maxWorkingKeys {
		t.Errorf("law 6: %d writes pending, %+v dropped", n, dropped)
	}
	for range 20 {
		c.Arrive(0, Request{})
	}
	if c.Waiting() != 3 || c.Lives() != 8 || len(c.lives) != 9 { // one to be refused
		t.Errorf("law 6: %d waiting, %d lives in %d places", c.Waiting(), c.Lives(), len(c.lives))
	}
	for i := range 2 * maxPeers {
		c.Import(0, fmt.Sprint(i), Snapshot{})
	}
	if n := len(c.Peers()); n != maxPeers {
		t.Errorf("law 6: %d peers", n)
	}
	if c, _ := New(Config{MaxKeys: 1 << 30}); c.cfg.MaxKeys != maxSnapshotRates {
		t.Errorf("law 6: %d keys, more than a snapshot carries", c.cfg.MaxKeys)
	}
}

// TestIndexFollowsTheCache holds that a worker is never believed to cache more
// than fits, also when its size is learned or shrinks.
func TestIndexFollowsTheCache(t *testing.T) {
	worker := Worker{ID: "w"}
	c := mustCore(t, Config{IndexBlocks: 50, Links: []Link{{"a", Info{Cached: true}}}}, Member{Worker: worker})
	send := func(blocks int) int {
		r := Request{PromptTokens: 10 * blocks, BlockTokens: 10}
		for i := range uint64(blocks) {
			r.Blocks = append(r.Blocks, i)
		}
		c.Arrive(0, r)
		return c.index.match(c.workers[0], r.Blocks)
	}
	if n := send(60); n != 50 {
		t.Errorf("%d blocks believed cached of a size unknown, want 50", n)
	}
	for size, want := range map[int]int{200: 20, 10: 1, 1: 1, 1 << 40: 60} {
		worker.KVTokens = size
		if err := c.SetFleet(0, []Member{{Worker: worker}}); err != nil {
			t.Fatal(err)
		}
		if n := send(60); n != want {
			t.Errorf("%d blocks believed cached in %d tokens, want %d", n, size, want)
		}
	}
	if limit := c.workers[0].prefixes.limit; limit > maxIndexBlocks {
		t.Errorf("law 6: room for %d blocks", limit)
	}
}

// TestReceiptsTellOfTheCache holds law 20: no figure without an index or blocks.
func TestReceiptsTellOfTheCache(t *testing.T) {
	for indexed, want := range map[bool][3]int{false: {-1, -1, -1}, true: {0, 20, -1}} {
		c := mustCore(t, Config{Links: []Link{{"a", Info{Cached: indexed}}}}, Member{Worker: Worker{ID: "w"}})
		for i, blocks := range [][]uint64{{1, 2}, {1, 2, 3}, nil} {
			s := c.Arrive(0, Request{PromptTokens: 30, BlockTokens: 10, Blocks: blocks})
			if s.Kind != DoDispatch || s.Receipt.Cached != want[i] {
				t.Errorf("law 20: request %d with an index: %v, is believed to find %d tokens, want %d", i, indexed, s.Receipt.Cached, want[i])
			}
		}
	}
}

// TestPlanVersionsGrow holds law 8 over a swap of the strategy.
func TestPlanVersionsGrow(t *testing.T) {
	c := mustCore(t, Config{Links: []Link{{"a", Info{Plans: true}}}}, Member{Worker: Worker{ID: "w"}})
	mustInstall(t, c, 0, Plan{Version: 7, Rest: Rest{Order: ByRotation}})
	c.SetInfo(0, Info{Routes: true})
	if p, at := c.PlanAt(0); p != nil || at != Never {
		t.Error("a strategy that does not plan any more has a plan")
	}
	if s := c.Arrive(0, Request{}); s.Kind != DoAsk {
		t.Errorf("step %d, want the strategy to be asked", s.Kind)
	}
	c.SetInfo(0, Info{Plans: true})
	old, err := Compile(&Plan{Version: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Install(0, 0, old); !errors.Is(err, ErrStale) {
		t.Errorf("law 8: version 7 came after version 7: %v", err)
	}
	if tasks := c.PlansDue(0); len(tasks) != 1 || tasks[0].Version != 8 {
		t.Errorf("law 8: tasks %+v, want version 8", tasks)
	}
	for link, p := range map[int]*Compiled{-1: old, 1: old, 0: nil} {
		if err := c.Install(0, link, p); err == nil {
			t.Errorf("plan %v was installed for link %d", p, link)
		}
	}
}

// TestLinksOutOfRange holds that calls for a strategy that is not there do nothing.
func TestLinksOutOfRange(t *testing.T) {
	c := mustCore(t, Config{Links: []Link{{"a", Info{}}}})
	for _, i := range []int{-1, 1, 2} {
		c.SetInfo(i, Info{Plans: true, Observes: everyKind()})
		c.SetDown(i, true)
		c.PlanFailed(0, i)
		if p, _ := c.PlanAt(i); p != nil || c.Holds(i) != 0 || c.TakeEvents(i, nil) != nil {
			t.Errorf("link %d has something", i)
		}
	}
	if len(c.PlansDue(0)) != 0 {
		t.Error("a strategy that does not plan has a plan due")
	}
	c.SetInfo(0, Info{Observes: []EventKind{0, 200}})
	c.Arrive(0, Request{})
	if c.TakeEvents(0, nil) != nil {
		t.Error("events of no kind came")
	}
}

// TestExportTellsOnlyOfOwn holds law 14 for rates, whatever peers say.
func TestExportTellsOnlyOfOwn(t *testing.T) {
	c := mustCore(t, Config{Links: []Link{{"a", Info{Plans: true, Rates: true}}}}, Member{Worker: Worker{ID: "w"}})
	c.Arrive(0, Request{Key: 2, PromptTokens: 10})
	own := c.Rate(0, 2)
	rates := map[string]float64{"x": 1 << 53, "y": 1, "z": 1} // their sum depends on the order
	for name, rate := range rates {
		c.Import(0, name, Snapshot{TotalRate: rate, Rates: []estimator.Rate{{Key: 1}, {Key: 2, PerSecond: rate, Tokens: 40}},
			Loads: []WorkerLoad{{WorkerRef{"w", 0}, 1 << 62, 1 << 62, 1 << 62}, {WorkerRef{"w", 1}, 9, 9, 9}}})
	}
	s := c.Export(0, 0)()
	if len(s.Rates) != 1 || s.Rates[0].PerSecond != own || s.Loads[0].InFlight != 1 || s.Loads[0].QueuedTokens != 10 {
		t.Errorf("law 14: the export %+v tells of others", s)
	}
	for range 20 {
		in := c.planTask(0, 0).Input()
		if len(in.Rates) != 1 || in.TotalRate != s.TotalRate+rates["x"]+rates["y"]+rates["z"] {
			t.Fatalf("law 16: rates %v, in all %v", in.Rates, in.TotalRate)
		}
	}
	if w := c.workers[0]; w.load() != 1+3*maxPeerInFlight || w.tokens() != 10+3*maxPeerTokens {
		t.Errorf("law 14: load %d, %d tokens", w.load(), w.tokens())
	}
}
