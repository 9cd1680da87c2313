package router

import (
	"testing"
	"time"
)

// TestNextPlan: a plan that says when the next is due is asked for then, whatever
// the interval of the strategy; the one after it is due as ever.
func TestNextPlan(t *testing.T) {
	c, err := New(Config{Links: []Link{{"planner", Info{Plans: true, Interval: 10 * time.Second}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetFleet(0, []Member{{Worker: Worker{ID: "a"}}}); err != nil {
		t.Fatal(err)
	}
	now := Time(0)
	for i, next := range []time.Duration{25 * time.Second, 0, time.Second} {
		due := c.PlansDue(now)
		if len(due) != 1 {
			t.Fatalf("plan %d: %d are due at %v", i, len(due), time.Duration(now))
		}
		p, err := Compile(&Plan{Version: due[0].Version, Next: next})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Install(now, 0, p); err != nil {
			t.Fatal(err)
		}
		if next == 0 {
			next = 10 * time.Second
		}
		now = now.Add(next - 1)
		if due := c.PlansDue(now); len(due) != 0 {
			t.Errorf("plan %d: the next is due at %v", i, time.Duration(now))
		}
		now++
	}
	for _, wrong := range []Plan{{Next: -1}, {Speeds: []float64{1}}} {
		if _, err := Compile(&wrong); err == nil {
			t.Errorf("a plan with next %v and speeds %v of no workers is taken for valid", wrong.Next, wrong.Speeds)
		}
	}
}
