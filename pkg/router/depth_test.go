package router

import (
	"math"
	"testing"
	"time"
)

// TestDepth: what planners learn of prompts' ends is told by the prompts of which some
// was cached, by usage, or where that says nothing by the prefix index.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		name   string
		cached []int // of 100 tokens, in turn; -1 = not told
		want   float64
	}{
		{"nothing found", []int{0, 0}, 0},
		{"found", []int{0, 60, 80}, 0.7},
		{"more than there is", []int{200}, 1},
		{"not told", []int{-1, -1}, 0.5}, // the second finds the first one's beginning
	} {
		core, err := New(Config{Pool: "p", Links: []Link{{Name: "plans", Info: Info{Plans: true, Cached: true}}}, RateHalfLife: time.Hour, PlanInterval: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := core.SetFleet(0, []Member{{Worker: Worker{ID: "a", KVTokens: 10_000, Incarnation: 1}}}); err != nil {
			t.Fatal(err)
		}
		for i, cached := range c.cached {
			step := core.Arrive(1, Request{Key: 1, PromptTokens: 100, Blocks: []uint64{1, uint64(2 + i)}, BlockTokens: 50})
			core.Finish(1, step.Ticket, Ending{Outcome: Completed, Usage: Usage{PromptTokens: 100, CachedTokens: cached}})
		}
		if got := core.PlansDue(Time(time.Second))[0].Input().Depth; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: depth %v, want %v", c.name, got, c.want)
		}
	}
}
