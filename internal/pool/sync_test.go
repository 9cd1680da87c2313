package pool

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/memory"
)

// together starts gateways g0, g1 ... that share a store.
func together(t *testing.T, n int, store state.Store, chain func(gateway int) []Link) []*world {
	var all []*world
	for i := range n {
		all = append(all, newPool(t, func(c *Config) {
			c.Gateway, c.Store, c.Shared, c.Core.FetchDeadline = fmt.Sprint("g", i), store, true, 2*time.Millisecond
		}, chain(i)...))
		all[i].workers(0, 0)
		pass(50 * time.Millisecond) // g0 is the first to ask for the lease
	}
	t.Cleanup(func() {
		for _, w := range all {
			w.Close()
		}
	})
	return all
}

// planner plans key 5 onto a worker.
func planner(worker int) []Link {
	return []Link{planning("plans", func(_ context.Context, in router.PlanInput) (router.Plan, error) {
		p := tabled(in, worker, 5)
		p.Note = fmt.Sprint(len(in.Rates), " rates")
		return p, nil
	})}
}

func TestGatewaysServeOnePlan(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		all := together(t, 2, memory.New(memory.Options{}), planner)
		pass(2 * time.Second)
		if !all[0].IsPlanner() || all[1].IsPlanner() {
			t.Fatalf("planners: %v, %v", all[0].IsPlanner(), all[1].IsPlanner())
		}
		for i, w := range all {
			a := w.acquire(router.Request{Key: 5})
			w.wants(a, "w0", "plans", "table") // g1's own planner would have said w1
			a.complete()
			if x, y := all[0].Plans()[0].Plan.Version, w.Plans()[0].Plan.Version; x != y {
				t.Errorf("g%d serves plan %d, g0 %d", i, y, x)
			}
		}
		if l0, l1 := all[0].metric("gatewayd_planner_leader"), all[1].metric("gatewayd_planner_leader"); l0 != 1 || l1 != 0 {
			t.Errorf("leaders by metrics: %v, %v", l0, l1)
		}

		// What only g1 sees is in the next plan.
		for range 20 {
			all[1].acquire(router.Request{Key: 77}).complete()
		}
		pass(11 * time.Second)
		if note := all[1].Plans()[0].Plan.Note; note != "2 rates" {
			t.Errorf("the plan was made from %s, want 2", note)
		}

		// The planner ends: the other one takes over at once, and plans in time.
		version := all[1].Plans()[0].Plan.Version
		all[0].Close()
		pass(time.Second)
		if !all[1].IsPlanner() {
			t.Fatal("the lease did not move")
		}
		pass(10 * time.Second)
		a := all[1].acquire(router.Request{Key: 5})
		all[1].wants(a, "w1", "plans", "table")
		a.complete()
		if v := all[1].Plans()[0].Plan.Version; v <= version {
			t.Errorf("the new planner's version %d is not above %d", v, version)
		}
	})
}

// The first plan does not wait for an interval because the lease came a moment
// after the fleet.
func TestFirstPlanComesWithTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := &switched{Store: memory.New(memory.Options{})}
		store.set(false, true)
		w := newPool(t, func(c *Config) { c.Store, c.Shared, c.SyncInterval = store, true, 50*time.Millisecond }, planner(0)...)
		defer w.Close()
		w.workers(0, 0)
		pass(200 * time.Millisecond) // ticks without a lease; the first exchange still hangs
		if len(w.Plans()) > 0 {
			t.Fatal("it planned without the lease")
		}
		store.set(false, false)
		pass(300 * time.Millisecond)
		if len(w.Plans()) == 0 || !w.IsPlanner() {
			t.Errorf("no plan although the lease is held: %v", w.IsPlanner())
		}
	})
}

// Without the store a gateway plans for itself, at once, and says so; when the
// store is back it serves what all serve, however much it planned alone.
func TestStoreAwayAndBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		shared := memory.New(memory.Options{})
		cut := &switched{Store: shared}
		all := together(t, 1, shared, planner)
		lonely := newPool(t, func(c *Config) { c.Gateway, c.Store, c.Shared = "lonely", cut, true }, planner(1)...)
		defer lonely.Close()
		lonely.workers(0, 0)
		pass(2 * time.Second)
		common := lonely.Plans()[0].Plan.Version

		cut.set(true, false)
		pass(1100 * time.Millisecond)
		if !lonely.IsPlanner() || lonely.metric("gatewayd_state_up") != 0 || lonely.metric("gatewayd_planner_leader") != 1 {
			t.Errorf("alone: planner %v, state up %v, leader %v", lonely.IsPlanner(), lonely.metric("gatewayd_state_up"), lonely.metric("gatewayd_planner_leader"))
		}
		for rooms := range 100 { // every change of the fleet makes a plan
			lonely.workers(rooms+1, 0)
			pass(tickEvery)
		}
		if v := lonely.Plans()[0].Plan.Version; v < common+100 {
			t.Errorf("alone it came from version %d to %d only", common, v)
		}
		a := lonely.acquire(router.Request{Key: 5})
		lonely.wants(a, "w1", "plans", "table")
		a.complete()

		cut.set(false, false)
		pass(11 * time.Second)
		if lonely.IsPlanner() || lonely.metric("gatewayd_state_up") != 1 || lonely.metric("gatewayd_planner_leader") != 0 {
			t.Error("the store is back, and the gateway plans alone")
		}
		x, y := all[0].Plans()[0].Plan.Version, lonely.Plans()[0].Plan.Version
		a = lonely.acquire(router.Request{Key: 5})
		lonely.wants(a, "w0", "plans", "table")
		a.complete()
		if x != y {
			t.Errorf("it serves plan %d, the others %d", y, x)
		}
	})
}

func TestPeersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		all := together(t, 3, store, func(int) []Link { return nil })
		held := all[2].acquire(router.Request{PromptTokens: 100})
		pass(3 * time.Second)
		inFlight := func() (n int) {
			for _, m := range all[0].Loads() {
				n += m.Load.InFlight
			}
			return n
		}
		if peers := fmt.Sprint(all[0].Peers()); peers != "[g1 g2]" || inFlight() != 1 {
			t.Errorf("peers %s, %d requests of theirs", peers, inFlight())
		}
		all[2].Close()
		pass(5 * time.Second)
		if peers := fmt.Sprint(all[0].Peers()); peers != "[g1]" || inFlight() != 0 {
			t.Errorf("one left: peers %s, %d requests of theirs", peers, inFlight())
		}
		if n := all[0].metric("gatewayd_state_age_seconds", "g2"); n != 0 {
			t.Error("the metrics still show the age of a peer that left")
		}
		held.complete()
	})
}

// What a peer writes and nobody can read is refused, and said once.
func TestNonsenseInTheStore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		var log bytes.Buffer
		w := newPool(t, func(c *Config) {
			c.Store, c.Shared = store, true
			c.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})
		}, planner(0)...)
		defer w.Close()
		w.workers(0, 0)
		pass(1500 * time.Millisecond)
		good := w.Plans()[0].Plan.Version
		ctx := t.Context()
		for range 20 {
			if err := store.PutSnapshot(ctx, "m", "broken", []byte("nonsense"), time.Minute); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		if n := strings.Count(log.String(), "figures of gateway broken"); n != 1 {
			t.Errorf("nonsense seen 20 times was logged %d times:\n%s", n, &log)
		}
		if len(w.Peers()) > 0 {
			t.Errorf("peers %v", w.Peers())
		}
		lease, err := store.Lease(ctx, "m", "g", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.PublishPlan(ctx, "m", "plans", state.Plan{Version: 1 << 60, Fence: lease.Fence, Bytes: []byte("nonsense")}, time.Minute); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		if n := strings.Count(log.String(), "plan of strategy plans"); n != 1 {
			t.Errorf("a plan of nonsense was logged %d times:\n%s", n, &log)
		}
		if v := w.Plans()[0].Plan.Version; v < good {
			t.Errorf("plan %d is in force, %d was", v, good)
		}
	})
}

// One fact that no store keeps does not take others with it.
func TestFactsAreStored(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		n := 0
		w := newPool(t, func(c *Config) { c.Store, c.Shared, c.Core.FetchDeadline = store, true, time.Millisecond },
			routing("writes", func(context.Context, router.Input) (router.Decision, error) {
				n++
				d := to(0)
				d.Writes = []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "f", Key: uint64(n)}, Value: []byte("v")}, TTL: time.Minute}}
				if n%2 == 0 {
					d.Writes[0].Value = make([]byte, state.MaxFact+1)
				}
				return d, nil
			}))
		defer w.Close()
		w.workers(0)
		for range 10 {
			w.acquire(router.Request{}).complete()
		}
		pass(time.Millisecond)
		var keys []router.FactKey
		for i := range 10 {
			keys = append(keys, router.FactKey{Family: "f", Key: uint64(i + 1)})
		}
		facts, err := store.Facts(t.Context(), "m", keys)
		if err != nil || len(facts) != 5 {
			t.Errorf("%d of 5 good facts are stored, %v", len(facts), err)
		}
	})
}
