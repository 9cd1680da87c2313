package cacheroute

import (
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// watch takes the highest way that a trial allows, minute by minute.
type watch struct {
	*testing.T
	in router.PlanInput
}

func newWatch(t *testing.T) *watch {
	return &watch{t, router.PlanInput{HalfLife: time.Minute, TotalRate: 1e6, Reuse: router.Reuse{By: router.ByUsage, Share: 0.5}, Previous: &router.Plan{}}}
}

func (w *watch) step(minutes int, share float64, top, want way) {
	w.Helper()
	w.in.Now, w.in.Reuse.Share = router.Time(0).Add(time.Duration(minutes)*time.Minute), share
	trial := config{}.try(w.in)
	is := min(trial.most, top)
	if is != want {
		w.Fatalf("minute %d, %.2f cached: way %d, want %d (%+v)", minutes, share, is, want, trial)
	}
	plan := router.Plan{Trial: trial.next(w.in, is)}
	if is > unplanned {
		plan.Table.Append(1, 0)
	}
	if is == divided {
		plan.Rest.Among = []uint16{0}
	}
	w.in.Previous = &plan
}

// TestTrial: a division that is measured to be worse than what was before is
// given up, and tried again after a while.
func TestTrial(t *testing.T) {
	w := newWatch(t)
	w.step(1, 0.5, divided, divided)
	w.step(2, 0.3, divided, divided) // caches are cold yet
	w.step(3, 0.3, divided, undivided)
	w.step(6, 0.2, divided, undivided) // the worse way is no rival
	w.step(17, 0.5, divided, undivided)
	w.step(18, 0.5, divided, divided)
	w.step(25, 0.495, divided, divided)
	w.in.Reuse.By = router.NoSignal
	w.step(26, 0, divided, divided) // stays as it is
	w.in.Reuse.By = router.ByUsage
	w.step(27, 0.3, divided, undivided)
	w.in.Reuse.By = router.NoSignal
	w.step(60, 0, divided, undivided)
}

// TestTrialOfPlans: so is a plan.
func TestTrialOfPlans(t *testing.T) {
	w := newWatch(t)
	w.step(1, 0.5, undivided, undivided)
	w.step(2, 0.3, undivided, undivided)
	w.step(3, 0.485, undivided, unplanned)
	w.in.Reuse.By = router.NoSignal
	w.step(4, 0, undivided, unplanned)
	w.in.Reuse.By = router.ByUsage
	w.step(17, 0.6, undivided, unplanned)
	w.step(18, 0.6, undivided, undivided)
	w.step(21, 0.595, undivided, undivided)
	w.step(22, 0.7, unplanned, unplanned) // no key is hot any more
	w.step(23, 0.4, undivided, undivided)
	w.step(40, 0.395, undivided, undivided)
	w.in.TotalRate = 1
	w.step(41, 0.31, undivided, undivided) // so few requests differ by chance
	w.step(42, 0.1, undivided, unplanned)
}

// TestGivenUp: a plan that does not pay leaves the table empty and says so.
func TestGivenUp(t *testing.T) {
	c := config{share: 0.6, fill: 0.7, near: DefaultNear, bound: DefaultBound, stage: 0.2, everywhere: DefaultEverywhere, auto: true, rest: rest("auto")}
	in := router.PlanInput{
		Now: router.Time(time.Hour), HalfLife: time.Minute, TotalRate: 300, Last: true, Reuse: router.Reuse{By: router.ByUsage, Share: 0.3},
		Rates:    []router.KeyRate{{Key: 1, Rate: 100, Tokens: 100}, {Key: 2, Rate: 100, Tokens: 100}},
		Fleet:    router.Fleet{Workers: []router.Worker{{ID: "a", KVTokens: 1000}, {ID: "b", KVTokens: 1000}}},
		Previous: &router.Plan{Workers: []router.WorkerRef{{ID: "a"}, {ID: "b"}}, Trial: router.Trial{Rival: 0.4, Rated: true}},
	}
	in.Previous.Table.Append(1, 0)
	in.Previous.Table.Append(2, 1)
	plan, err := c.plan(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Table.Keys) > 0 || plan.Rest.Order != router.ByCost || !plan.Trial.Lost || plan.Trial.Rival != 0.3 {
		t.Errorf("plan %+v", plan)
	}
	const want = "0 of 2 keys planned, imbalance 1.000, qcap 90 req/s, 0.7 of the KV cache, planned no more, since it does not pay: 0.300 cached, 0.400 without, 0 moved, 0 put off, churn 0.000"
	if plan.Note != want {
		t.Errorf("note %q, want %q", plan.Note, want)
	}
	in.Previous, in.Now, in.Reuse.Share = &plan, in.Now.Add(time.Minute), 0.35
	plan.Workers = []router.WorkerRef{{ID: "a"}, {ID: "b"}}
	if next, err := c.plan(in); err != nil || len(next.Table.Keys) > 0 || next.Trial != plan.Trial {
		t.Errorf("a minute later: %+v, %v", next, err)
	}
	in.Now = in.Now.Add(retry)
	if next, err := c.plan(in); err != nil || len(next.Table.Keys) != 2 || next.Trial != (router.Trial{Began: in.Now, Rival: 0.35, Rated: true}) {
		t.Errorf("after %v: %+v, %v", retry, next, err)
	}
}
