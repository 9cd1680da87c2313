package cacheroute

import (
	"fmt"
	"time"

	"gatewayd/pkg/router"
)

const (
	// settling is the number of half-lives of the rates after which caches have
	// warmed and what is measured is of the present way to plan.
	settling = 2
	// repeal is how much less must be cached than under the other way for it to be
	// taken again.
	repeal = 0.01
	// retry is the time after which the other way may be tried again.
	retry = 15 * time.Minute
)

// trial is the gate of divided workers: what is measured decides, not what is
// predicted.
type trial struct {
	router.Trial
	divided bool // so far
	divide  bool // may be divided from now on
	failed  bool // the division did not pay
}

// try decides whether the workers may be divided. Without a signal they stay as
// they are.
func (c config) try(in router.PlanInput) trial {
	var t trial
	if in.Previous != nil {
		t.Trial = in.Previous.Trial
		t.divided = len(in.Previous.Rest.Among) > 0
	}
	age := in.Now.Sub(t.Began)
	warm := age >= settling*in.HalfLife
	switch {
	case in.Reuse.By == router.NoSignal:
		t.divide = t.divided
	case t.divided && warm && t.Rated && in.Reuse.Share < t.Rival-repeal:
		t.failed = true
	case t.divided:
		t.divide = true
	case !t.Rated:
		t.divide = true
	default: // it was tried, and given up
		t.divide = age >= retry
	}
	return t
}

// next is what the plan after this one has to know.
func (t trial) next(in router.PlanInput, zones Zones) router.Trial {
	divided := len(zones.Cold) > 0
	if divided == t.divided && in.Previous != nil {
		return t.Trial
	}
	if in.Previous == nil {
		return router.Trial{Began: in.Now}
	}
	return router.Trial{Began: in.Now, Rival: in.Reuse.Share, Rated: in.Reuse.By != router.NoSignal && (divided || t.failed)}
}

// note says in words what was decided and why.
func (t trial) note(in router.PlanInput, zones Zones) string {
	switch {
	case in.Reuse.By == router.NoSignal && t.divided:
		return "no signal of reuse: workers stay divided"
	case in.Reuse.By == router.NoSignal:
		return "no signal of reuse: homes are kept"
	case t.failed:
		return fmt.Sprintf("not divided any more: %.3f cached, %.3f without", in.Reuse.Share, t.Rival)
	case len(zones.Cold) > 0:
		return fmt.Sprintf("%d cold workers: %.3f cached predicted, %.3f without, %.3f by %v", len(zones.Cold), zones.Split, zones.Flat, in.Reuse.Share, in.Reuse.By)
	}
	return fmt.Sprintf("not divided: %.3f cached predicted, %.3f if divided, %.3f by %v", zones.Flat, zones.Split, in.Reuse.Share, in.Reuse.By)
}
