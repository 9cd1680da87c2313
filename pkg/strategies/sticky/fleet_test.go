package sticky

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// gateway is a real core with sticky alone, and time that goes on by itself.
type gateway struct {
	t    *testing.T
	core *router.Core
	plan router.Planner
	now  router.Time
}

func newGateway(t *testing.T, o router.Options) *gateway {
	t.Helper()
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	core, err := router.New(router.Config{Pool: "pool", Seed: 1, Links: []router.Link{{Name: name, Info: instance.Info()}}})
	if err != nil {
		t.Fatal(err)
	}
	return &gateway{t: t, core: core, plan: instance.(router.Planner)}
}

// fleet is n workers, of which some are down.
func (g *gateway) fleet(n int, down ...int) {
	g.t.Helper()
	var members []router.Member
	for i := range n {
		m := router.Member{Worker: router.Worker{ID: fmt.Sprintf("w%02d", i), KVTokens: 1 << 20}}
		for _, d := range down {
			m.Down = m.Down || d == i
		}
		members = append(members, m)
	}
	g.join(members)
}

// join sets the fleet and puts the plan for it in force.
func (g *gateway) join(members []router.Member) {
	g.t.Helper()
	if err := g.core.SetFleet(g.now, members); err != nil {
		g.t.Fatal(err)
	}
	for _, task := range g.core.PlansDue(g.now) {
		plan, err := g.plan.Plan(task.Input())
		if err != nil {
			g.t.Fatal(err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			g.t.Fatal(err)
		}
		if err := g.core.Install(g.now, task.Link, compiled); err != nil {
			g.t.Fatal(err)
		}
	}
}

// turn sends a session's next turn, which fails as often as said before it is
// served, and returns its worker.
func (g *gateway) turn(session, failures int) string {
	g.t.Helper()
	g.now = g.now.Add(time.Millisecond)
	key := router.Mix(uint64(session) + 1)
	step := g.core.Arrive(g.now, router.Request{Key: key, PromptTokens: 128, Blocks: []uint64{router.Mix(key)}, BlockTokens: 128})
	for range failures {
		step = g.core.Retry(g.now, step.Ticket)
	}
	if step.Kind != router.DoDispatch {
		g.t.Fatalf("session %d was not served: %+v", session, step.Refusal)
	}
	g.core.Finish(g.now, step.Ticket, router.Ending{Outcome: router.Completed})
	return step.Worker.ID
}

func (g *gateway) turns(sessions int) []string {
	at := make([]string, sessions)
	for i := range at {
		at[i] = g.turn(i, 0)
	}
	return at
}

func moved(before, after []string) (n int) {
	for i := range before {
		if before[i] != after[i] {
			n++
		}
	}
	return n
}

// TestFleetGrowsAndShrinks has 10,000 sessions on 10 workers. One more moves none
// while they are held, and at most a little over its part where nothing is known
// any more; one less moves only its own.
func TestFleetGrowsAndShrinks(t *testing.T) {
	const sessions = 10_000
	g := newGateway(t, nil)
	g.fleet(10)
	before := g.turns(sessions)
	g.fleet(11)
	if n := moved(before, g.turns(sessions)); n > 0 {
		t.Errorf("%d held sessions moved when a worker came", n)
	}
	g.fleet(9) // w09 is gone, and w10 that nobody lived on
	for i, at := range g.turns(sessions) {
		if before[i] != "w09" && at != before[i] {
			t.Fatalf("session %d moved from %s, which is there, to %s", i, before[i], at)
		}
	}
	old, fresh := newGateway(t, router.Options{"spread": "1000"}), newGateway(t, router.Options{"spread": "1000"})
	old.fleet(10)
	fresh.fleet(11)
	if n := moved(old.turns(sessions), fresh.turns(sessions)); n == 0 || n > sessions*12/100 {
		t.Errorf("%d of %d sessions live elsewhere for a new gateway with one more worker", n, sessions)
	}
}

// TestNewGatewayAgrees starts a gateway that knows nothing: it sends most sessions
// where they live, though its workers fill up in another order.
func TestNewGatewayAgrees(t *testing.T) {
	const sessions = 2_000
	old, fresh := newGateway(t, nil), newGateway(t, nil)
	old.fleet(8)
	fresh.fleet(8)
	before, after := old.turns(sessions), make([]string, sessions)
	for i := sessions - 1; i >= 0; i-- {
		after[i] = fresh.turn(i, 0)
	}
	if n := moved(before, after); n > sessions/2 {
		t.Errorf("a new gateway sends %d of %d sessions elsewhere", n, sessions)
	}
}

// TestSessionSurvivesItsWorker has a session's worker die, drain and fail: its next
// turn is served elsewhere, and it stays there, also when the worker is back.
func TestSessionSurvivesItsWorker(t *testing.T) {
	index := func(id string) (i int) {
		if _, err := fmt.Sscanf(id, "w%d", &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	for session := range 50 {
		g := newGateway(t, nil)
		g.fleet(4)
		home := g.turn(session, 0)
		g.fleet(4, index(home)) // drained, rate-limited, tripped: it takes nothing new
		second := g.turn(session, 0)
		if second == home {
			t.Fatalf("session %d went to %s, which is down", session, home)
		}
		for range 3 { // the worker flaps
			g.fleet(4)
			if at := g.turn(session, 0); at != second {
				t.Fatalf("session %d moved from %s to %s when %s came back", session, second, at, home)
			}
			g.fleet(4, index(home))
			if at := g.turn(session, 0); at != second {
				t.Fatalf("session %d moved from %s to %s when %s went again", session, second, at, home)
			}
		}
		g.fleet(4)
		third := g.turn(session, 1) // its worker fails this turn
		if third == second {
			t.Fatalf("session %d stays on %s, which failed it", session, second)
		}
		if at := g.turn(session, 0); at != third {
			t.Fatalf("session %d was served by %s after a failure, and then sent to %s", session, third, at)
		}
	}
}
