package router

import "testing"

// TestHomesInPlanInput: planners learn which worker served a key last, also
// from peers, in terms of the fleet they are given; workers that are gone or
// began a new life are nobody's home.
func TestHomesInPlanInput(t *testing.T) {
	members := func(ids ...string) (out []Member) {
		for _, id := range ids {
			out = append(out, Member{Worker: Worker{ID: id}})
		}
		return out
	}
	gateway := func(ids ...string) *Core {
		c, err := New(Config{Links: []Link{{"planner", Info{Plans: true, Rates: true}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetFleet(0, members(ids...)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	serve := func(c *Core, key uint64, worker string) {
		s := c.Arrive(1, Request{Key: key, PromptTokens: 10})
		c.Dispatched(1, s.Ticket, worker)
		c.Finish(1, s.Ticket, Ending{})
	}
	a, b := gateway("w1", "w2", "w3"), gateway("w0", "w2", "w3")
	serve(a, 1, "w1")
	serve(a, 2, "w3")
	serve(b, 3, "w3")
	serve(b, 4, "w0") // not a worker of a
	packed, err := b.Export(2, 0)().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var snapshot Snapshot
	if err := snapshot.UnmarshalBinary(packed); err != nil {
		t.Fatal(err)
	}
	a.Import(2, "b", snapshot)
	homes := func() map[uint64]int {
		out := map[uint64]int{}
		tasks := a.PlansDue(2)
		if len(tasks) != 1 {
			t.Fatalf("%d plans are due", len(tasks))
		}
		for _, r := range tasks[0].Input().Rates {
			out[r.Key] = r.Home
		}
		a.PlanFailed(2, 0)
		return out
	}
	if h := homes(); h[1] != 1 || h[2] != 3 || h[3] != 3 || h[4] != 0 || len(h) != 4 {
		t.Errorf("homes are %v, want 1:1 2:3 3:3 4:0", h)
	}
	// w1 restarts and w2 leaves.
	restarted := members("w1", "w3")
	restarted[0].Incarnation = 1
	if err := a.SetFleet(2, restarted); err != nil {
		t.Fatal(err)
	}
	if h := homes(); h[1] != 0 || h[2] != 2 || h[3] != 2 {
		t.Errorf("after a restart homes are %v, want 1:0 2:2 3:2", h)
	}
}
