package pool

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// tabled is a plan that sends the keys to one worker of the fleet.
func tabled(in router.PlanInput, worker int, keys ...uint64) router.Plan {
	var p router.Plan
	for _, w := range in.Fleet.Workers {
		p.Workers = append(p.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
	}
	for _, k := range keys {
		p.Table.Append(k, uint16(worker))
	}
	return p
}

func TestPlanIsMadeAndExecuted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var inputs []router.PlanInput
		w := newPool(t, nil, planning("plans", func(_ context.Context, in router.PlanInput) (router.Plan, error) {
			inputs = append(inputs, in)
			return tabled(in, 1, 5), nil
		}))
		defer w.Close()
		w.workers(0, 0)
		pass(tickEvery)
		for range 4 {
			a := w.acquire(router.Request{Key: 5})
			w.wants(a, "w1", "plans", "table")
			if r := a.Receipt(); r.Plan == 0 {
				t.Error("the receipt names no plan")
			}
			a.complete()
		}
		pass(10 * time.Second)
		if len(inputs) != 2 || inputs[1].Previous == nil || inputs[1].Previous.Version != 1 || inputs[1].PreviousAge != 10*time.Second {
			t.Fatalf("%d plans in 10 s; the second was made from %+v", len(inputs), inputs[len(inputs)-1])
		}
		if rates := inputs[1].Rates; len(rates) != 1 || rates[0].Key != 5 || rates[0].Rate <= 0 {
			t.Errorf("rates in the planner's input: %+v", rates)
		}
		w.workers(0, 0, 0)
		pass(tickEvery)
		if len(inputs) != 3 || len(inputs[2].Fleet.Workers) != 3 {
			t.Errorf("a change of the fleet made no plan at once: %d plans", len(inputs))
		}
		if plans := w.Plans(); len(plans) != 1 || plans[0].Plan.Version != 3 || plans[0].Strategy != "plans" {
			t.Errorf("plans in force: %+v", plans)
		}
		if n := w.metric("gatewayd_plan_installs_total", `result="installed"`, `strategy="plans"`); n != 3 {
			t.Errorf("%v plans counted, want 3", n)
		}
	})
}

// A planner that fails, answers nonsense or hangs leaves the plan in force.
func TestBadPlanLeavesTheOldOne(t *testing.T) {
	for name, c := range map[string]struct {
		bad    func(ctx context.Context, in router.PlanInput) (router.Plan, error)
		result string
	}{
		"failed": {func(context.Context, router.PlanInput) (router.Plan, error) { return router.Plan{}, errors.New("no") }, "failed"},
		"hung": {func(ctx context.Context, _ router.PlanInput) (router.Plan, error) {
			<-ctx.Done()
			return router.Plan{}, ctx.Err()
		}, "failed"},
		"invalid": {func(context.Context, router.PlanInput) (router.Plan, error) {
			return router.Plan{Table: router.Table{Keys: []uint64{1}, Offsets: []uint32{0, 1}, Members: []uint16{9}}}, nil
		}, "invalid"},
	} {
		inBubble(t, func(t *testing.T) {
			var calls atomic.Int32
			w := newPool(t, nil, planning("plans", func(ctx context.Context, in router.PlanInput) (router.Plan, error) {
				if calls.Add(1) == 2 {
					return c.bad(ctx, in)
				}
				return tabled(in, 1, 5), nil
			}))
			defer w.Close()
			w.workers(0, 0)
			pass(16 * time.Second) // the second plan is due after 10 s, and may take 5 s
			a := w.acquire(router.Request{Key: 5})
			w.wants(a, "w1", "plans", "table")
			if a.Receipt().Plan != 1 {
				t.Errorf("%s: plan %d is in force, want 1", name, a.Receipt().Plan)
			}
			a.complete()
			if n := w.metric("gatewayd_plan_installs_total", `result="`+c.result+`"`); n != 1 {
				t.Errorf("%s: counted %v times, want 1", name, n)
			}
			pass(12 * time.Second)
			if v := w.Plans()[0].Plan.Version; v < 2 {
				t.Errorf("%s: no plan was made after it: version %d", name, v)
			}
		})
	}
}

func TestPlannerThatIsAwayIsNotCalled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var calls atomic.Int32
		w := newPool(t, nil, planning("plans", func(_ context.Context, in router.PlanInput) (router.Plan, error) {
			calls.Add(1)
			return tabled(in, 0, 5), nil
		}))
		defer w.Close()
		w.SetStrategy(0, router.Info{}, false)
		w.workers(0)
		pass(time.Minute)
		if n := calls.Load(); n != 0 {
			t.Errorf("%d calls of a planner that is away", n)
		}
		w.SetStrategy(0, router.Info{Name: "plans", Plans: true}, true)
		pass(tickEvery)
		if n := calls.Load(); n != 1 {
			t.Errorf("%d plans when it came up, want 1 at once", n)
		}
		w.SetStrategy(0, router.Info{}, false)
		a := w.acquire(router.Request{Key: 5})
		w.wants(a, "w0", "plans", "table") // its last plan goes on
		a.complete()
	})
}

// Close ends calls under way; the bubble fails the test if a goroutine is left.
func TestCloseEndsEverything(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		started := make(chan struct{})
		w := newPool(t, func(c *Config) { c.Shared, c.Core.FetchDeadline, c.PlanTimeout = true, time.Millisecond, time.Hour },
			planning("plans", func(ctx context.Context, _ router.PlanInput) (router.Plan, error) {
				close(started)
				<-ctx.Done()
				return router.Plan{}, ctx.Err()
			}))
		w.workers(0)
		<-started
		start := time.Now()
		w.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("closing took %v", took)
		}
		a := w.acquire(router.Request{}) // a straggler gets its worker all the same
		a.complete()
		w.idle()
	})
}

func TestEventsReachTheirObserver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var got []router.EventKind
		l := Link{router.Link{Name: "sees", Info: router.Info{Name: "sees", Observes: []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished}}},
			&fake{observe: func(events []router.Event) {
				for _, e := range events {
					got = append(got, e.Kind)
				}
			}}}
		w := newPool(t, nil, l)
		defer w.Close()
		w.workers(0)
		a := w.acquire(router.Request{})
		a.FirstToken()
		a.complete()
		pass(2 * tickEvery)
		want := []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished}
		if len(got) != len(want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("event %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}
