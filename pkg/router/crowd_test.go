package router

import (
	"testing"
	"time"
)

// crowded is a core that knows of three peers which send as much as itself, one of
// which has a request at w1, and told them of all that it has.
func crowded(t *testing.T, links ...Link) *Core {
	t.Helper()
	c := mustCore(t, Config{Links: links}, Member{Worker: Worker{ID: "w0"}}, Member{Worker: Worker{ID: "w1"}})
	c.Import(0, "a", Snapshot{TotalRate: 1e9, Loads: []WorkerLoad{{WorkerRef: WorkerRef{ID: "w1"}, InFlight: 1, QueuedTokens: 10}}})
	c.Import(0, "b", Snapshot{TotalRate: 1e9})
	c.Import(0, "c", Snapshot{TotalRate: 1e9})
	c.Export(0, 0)()
	return c
}

func install(t *testing.T, c *Core, p Plan) {
	t.Helper()
	p.Workers = []WorkerRef{{ID: "w0"}, {ID: "w1"}}
	for _, task := range c.PlansDue(0) {
		p.Version = task.Version
		compiled, err := Compile(&p)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Install(0, task.Link, compiled); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPeersCrowd holds that whatever decides by load counts what peers are likely to
// have added since they told: the members of a table, guards, and strategies that are
// asked.
func TestPeersCrowd(t *testing.T) {
	planner := Link{Name: "planner", Info: Info{Plans: true}}
	send := func(c *Core, key uint64) Step {
		return c.Arrive(0, Request{Key: key, PromptTokens: 100})
	}
	sent := func(c *Core, key uint64, n int) (to string) {
		for range n {
			to += send(c, key).Worker.ID[1:]
		}
		return to
	}
	t.Run("table", func(t *testing.T) {
		var p Plan
		p.Table.Append(7, 0, 1)
		c := crowded(t, planner)
		install(t, c, p)
		// 0 and 1, then 4 and 1, then 4 and 5, and so on.
		if to := sent(c, 7, 5); to != "01010" {
			t.Errorf("requests went to %s, want 01010", to)
		}
	})
	t.Run("guard", func(t *testing.T) {
		for of, slack := range map[Feature]float64{InFlight: 9, QueuedTokens: 900} {
			var p Plan
			p.Table.Append(7, 0)
			p.Guard = Guard{Of: of, Factor: 1, Slack: slack}
			p.Rest = Rest{Order: ByRotation, Among: []uint16{1}}
			c := crowded(t, planner)
			install(t, c, p)
			// With those of the peers the first three are twelve at w0: more than the slack
			// and than the mean.
			if to := sent(c, 7, 5); to != "00011" {
				t.Errorf("under a guard of %v requests went to %s, want 00011", of, to)
			}
		}
	})
	t.Run("mean", func(t *testing.T) {
		for _, of := range []Feature{InFlight, QueuedTokens} {
			var p Plan
			p.Table.Append(7, 0)
			p.Table.Append(8, 1)
			p.Guard = Guard{Of: of, Factor: 1.5}
			c := crowded(t, planner)
			install(t, c, p)
			for i := range 8 { // no worker is above 1.5 times what all have with the peers
				if s := send(c, 7+uint64(i%2)); s.Receipt.Reason != "table" {
					t.Errorf("request %d under a guard of %v went by %s", i, of, s.Receipt.Reason)
				}
			}
		}
	})
	t.Run("asked", func(t *testing.T) {
		c := crowded(t, Link{Name: "asked", Info: Info{Routes: true}})
		s := send(c, 1)
		c.Answer(0, s.Ticket, Decision{Verdict: Route, Ranking: []Placement{{Worker: 0}}}, true)
		load := func() [2]Load {
			w := send(c, 2).Input.Workers
			return [2]Load{w[0].Load, w[1].Load}
		}
		if l := load(); l[0].InFlight != 4 || l[0].QueuedTokens != 400 || l[1].InFlight != 1 || l[1].QueuedTokens != 10 {
			t.Errorf("a strategy that is asked is shown %+v, want 4 and 400, 1 and 10", l)
		}
		c.Export(Time(time.Second), 0)()
		if l := load(); l[0].InFlight != 1 || l[0].QueuedTokens != 100 {
			t.Errorf("when all is told it is shown %+v, want 1 and 100", l[0])
		}
	})
}
