package cacheroute

import (
	"fmt"
	"math"
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

// way is how much is decided ahead.
type way uint8

const (
	unplanned way = iota // nothing: the rule for keys without a place has all
	undivided            // homes of hot keys
	divided              // these, and which workers cold traffic lives on
)

// wayOf is the way of a plan.
func wayOf(p *router.Plan) way {
	switch {
	case p == nil || len(p.Table.Keys) == 0:
		return unplanned
	case len(p.Rest.Among) == 0:
		return undivided
	}
	return divided
}

// trial is the gate of plans: what is measured decides, not what is predicted.
// What was cached before a way was taken is its rival, and a way that turns out
// worse is given up for the one below it.
type trial struct {
	router.Trial
	was  way  // so far
	most way  // that may be taken from now on
	lost bool // the way so far did not pay
}

// try decides which ways may be taken. Without a signal it stays as it is.
func (c config) try(in router.PlanInput) trial {
	t := trial{most: divided, was: wayOf(in.Previous)}
	if in.Previous != nil {
		t.Trial = in.Previous.Trial
	}
	age := in.Now.Sub(t.Began)
	switch {
	case in.Reuse.By == router.NoSignal && t.Lost:
		t.most = t.was
	case in.Reuse.By == router.NoSignal:
		t.most = max(t.was, undivided)
	case t.Lost && age < retry:
		t.most = t.was
	case !t.Lost && t.Rated && t.was > unplanned && age >= settling*in.HalfLife && in.Reuse.Share < t.Rival-doubt(in):
		t.lost, t.most = true, t.was-1
	}
	return t
}

// doubt is the difference of shares that is taken for true: two standard errors
// of a share of as many requests as speak for it, at least repeal.
func doubt(in router.PlanInput) float64 {
	requests := in.TotalRate * in.HalfLife.Seconds() / math.Ln2
	return max(repeal, 2*math.Sqrt(in.Reuse.Share*(1-in.Reuse.Share)/max(1, requests)))
}

// next is what the plan after this one has to know.
func (t trial) next(in router.PlanInput, is way) router.Trial {
	switch {
	case in.Previous == nil:
		return router.Trial{Began: in.Now}
	case is == t.was:
		return t.Trial
	}
	return router.Trial{
		Began: in.Now, Rival: in.Reuse.Share, Rated: in.Reuse.By != router.NoSignal && (is > t.was || t.lost), Lost: t.lost,
	}
}

// note says in words what was decided and why.
func (t trial) note(in router.PlanInput, zones Zones) string {
	switch {
	case in.Reuse.By == router.NoSignal && t.was == divided:
		return "no signal of reuse: workers stay divided"
	case in.Reuse.By == router.NoSignal:
		return "no signal of reuse: homes are kept"
	case t.lost && t.was == divided:
		return fmt.Sprintf("not divided any more: %.3f cached, %.3f without", in.Reuse.Share, t.Rival)
	case t.lost:
		return fmt.Sprintf("planned no more, since it does not pay: %.3f cached, %.3f without", in.Reuse.Share, t.Rival)
	case t.most == unplanned:
		return fmt.Sprintf("not planned: %.3f cached, %.3f when it was", in.Reuse.Share, t.Rival)
	case len(zones.Cold) > 0:
		return fmt.Sprintf("%d cold workers: %.3f cached predicted, %.3f without, %.3f by %v", len(zones.Cold), zones.Split, zones.Flat, in.Reuse.Share, in.Reuse.By)
	}
	return fmt.Sprintf("not divided: %.3f cached predicted, %.3f if divided, %.3f by %v", zones.Flat, zones.Split, in.Reuse.Share, in.Reuse.By)
}
