package router

import (
	"testing"
	"time"
)

// TestTakeOver: a core that takes another one's place decides as that one would
// have, whatever way it decides by; loads stay with the requests.
func TestTakeOver(t *testing.T) {
	const table, held, routed = 1, 2, 3
	fleet := []Member{{Worker: Worker{ID: "a"}}, {Worker: Worker{ID: "b"}}, {Worker: Worker{ID: "c"}}}
	planner := Link{"planner", Info{Plans: true, Rates: true, Cached: true}}
	binder := Link{"binder", Info{Plans: true}}
	old := mustCore(t, Config{Seed: 7, Links: []Link{planner, binder}}, fleet...)
	plan := Plan{Version: 41, Workers: []WorkerRef{{ID: "a"}, {ID: "b"}, {ID: "c"}}}
	plan.Table.Append(table, 2)
	mustInstall(t, old, 0, plan)
	mustInstall(t, old, 1, Plan{Bind: Bind{TTL: time.Hour}})
	serve := func(c *Core, now Time, key uint64) (Step, Receipt) {
		s := c.Arrive(now, Request{Key: key, PromptTokens: 100, Blocks: []uint64{key, key + 100}, BlockTokens: 50})
		return s, s.Receipt
	}
	running, _ := serve(old, 1, held)
	tabled, _ := serve(old, 1, table)
	old.FirstToken(2, running.Ticket)

	// Worker b is gone, c began a new life, and d is new.
	next := []Member{{Worker: Worker{ID: "a"}}, {Worker: Worker{ID: "c", Incarnation: 1}}, {Worker: Worker{ID: "d"}}}
	if running.Worker.ID == "b" {
		next = append(next, Member{Worker: Worker{ID: "b"}})
	}
	other := Link{"other", Info{Routes: true}}
	c := mustCore(t, Config{Seed: 7, MaxQueue: 5, Links: []Link{other, planner, {"binder", Info{}}}}, next...)
	c.SetDown(0, true) // it is not to be asked here
	rate := old.Rate(3, held)
	c.TakeOver(old)

	if rate == 0 || c.Rate(3, held) != rate || old.Rate(3, held) != 0 {
		t.Errorf("the rate was %v, and is %v here and %v there", rate, c.Rate(3, held), old.Rate(3, held))
	}
	if running.Worker.ID != "c" {
		if s, r := serve(c, 3, held); s.Worker != running.Worker || r.Reason != "hold" || r.Strategy != "binder" || r.Cached != 100 {
			t.Errorf("the held key went to %v by %+v, not to %v by hold", s.Worker, r, running.Worker)
		}
	}
	if s, r := serve(c, 3, table); s.Worker == tabled.Worker || r.Reason == "table" {
		t.Errorf("a worker of another life was used: %v by %+v", s.Worker, r)
	}
	for _, m := range c.Loads(3) {
		if m.Load.InFlight > 1 {
			t.Errorf("worker %s has %d requests in flight, of which this core gave it one at most", m.ID, m.Load.InFlight)
		}
	}
	if p, _ := c.PlanAt(1); p == nil || p.Version != 41 {
		t.Errorf("the plan in force is %v", p)
	}
	for _, task := range c.PlansDue(4) {
		if task.Name == "planner" && (task.Version != 42 || task.Input().Previous == nil || task.Input().Previous.Version != 41) {
			t.Errorf("the next plan is version %d after %v", task.Version, task.Input().Previous)
		}
	}
	// The old core ends what it has, and begins anew.
	for _, s := range []Step{running, tabled} {
		old.Finish(5, s.Ticket, Ending{Outcome: Completed, Usage: Usage{PromptTokens: 100, OutputTokens: 1}})
	}
	for _, m := range old.Loads(6) {
		if m.Load.InFlight != 0 || m.Load.QueuedTokens != 0 {
			t.Errorf("the old core is idle, and has %+v at %s", m.Load, m.ID)
		}
	}
	if s, r := serve(old, 7, routed); s.Kind != DoDispatch || r.Strategy != BuiltIn || old.Holds(1) != 1 {
		t.Errorf("a late request at the old core: %v by %+v, %d holds", s.Kind, r, old.Holds(1))
	}
}
