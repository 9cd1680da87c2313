package router

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestHostileFigures holds law 18: figures that no one should send bend nothing.
func TestHostileFigures(t *testing.T) {
	c := mustCore(t, Config{Links: []Link{{"a", Info{Plans: true, Cached: true}}}}, Member{Worker: Worker{ID: "w1"}}, Member{Worker: Worker{ID: "w2"}})
	mustInstall(t, c, 0, Plan{Guard: Guard{Of: QueuedTokens, Factor: math.MaxFloat64}, Rest: Rest{Order: ByCost, FirstTie: true, Cost: Row{{InFlight, []float64{1}}}}})
	blocks := []uint64{1, 2, 3}
	tickets := []Ticket{}
	for _, n := range []int{math.MaxInt, math.MinInt, -1, 1 << 40} {
		for range 100 {
			tickets = append(tickets, c.Arrive(0, Request{PromptTokens: n, MaxTokens: n, BlockTokens: n, Blocks: blocks, Priority: n}).Ticket)
		}
	}
	for _, w := range c.workers {
		if w.queued < 0 || w.queued > 100*mostTokens {
			t.Errorf("law 3: %d tokens queued at %s", w.queued, w.info.ID)
		}
	}
	for i, ticket := range tickets {
		n := []int{math.MaxInt, math.MinInt}[i%2]
		c.FirstToken(Time(n), ticket)
		c.Finish(Time(n), ticket, Ending{Outcome: Outcome(i % 7), Usage: Usage{OutputTokens: n, PromptTokens: n, CachedTokens: n, Joules: math.NaN()}})
	}
	if c.totals != (totals{up: 2, open: 2}) {
		t.Errorf("law 3: idle, but the totals are %+v", c.totals)
	}
	for _, m := range c.Loads(0) {
		for _, g := range []Gauge{m.Load.TTFT, m.Load.Latency} {
			if !(g.Value >= 0) || math.IsInf(g.Value, 0) {
				t.Errorf("law 18: a gauge of worker %s is %v", m.ID, g)
			}
		}
	}
	in := c.PlansDue(0)[0].Input()
	if !(in.OutputTokens > 0 && in.OutputTokens <= mostTokens) || !(in.PromptTokens >= 0 && in.PromptTokens <= mostTokens) {
		t.Errorf("law 18: means of %v tokens in, %v out", in.PromptTokens, in.OutputTokens)
	}
}

// TestUsageIsBounded holds law 18 for what workers report.
func TestUsageIsBounded(t *testing.T) {
	low := Usage{-5, -5, -5, -1}.bounded()
	high := Usage{math.MaxInt, math.MaxInt, math.MaxInt, math.Inf(1)}.bounded()
	if low != (Usage{0, 0, -1, 0}) || high != (Usage{mostTokens, mostTokens, mostTokens, 0}) {
		t.Errorf("law 18: usages %+v and %+v", low, high)
	}
	if u := (Usage{1, 2, 3, 4.5}); u.bounded() != u {
		t.Errorf("a usage of sense became %+v", u.bounded())
	}
}

// TestCostsThatAreNoNumber holds that a worker whose cost cannot be told is
// never the cheapest.
func TestCostsThatAreNoNumber(t *testing.T) {
	inf := math.MaxFloat64 // times a large feature
	for name, rest := range map[string]Rest{
		"cost":  {Order: ByCost, Cost: Row{{InputTokens, []float64{inf, 1, inf}}, {InputTokens, []float64{-inf, 1, -inf}}}},
		"limit": {Order: ByCost, Limit: Row{{InputTokens, []float64{inf, 1, inf}}, {InputTokens, []float64{-inf, 1, -inf}}}, Bound: -1},
	} {
		members, refs := benchFleet(3)
		c := mustCore(t, Config{Links: []Link{{"a", Info{Plans: true}}}}, members...)
		mustInstall(t, c, 0, Plan{Workers: refs, Rest: rest})
		if s := c.Arrive(0, Request{PromptTokens: 1000}); s.Worker != refs[1] {
			t.Errorf("law 18: by %s the request goes to %v", name, s.Worker)
		}
	}
}

// TestGaugesOfTheFleet holds that what discovery and scraping bring is merged by
// age, and that a figure that is not a number is unknown.
func TestGaugesOfTheFleet(t *testing.T) {
	known := func(v float64, at Time) Gauge { return Gauge{v, at} }
	member := Member{Worker: Worker{ID: "w", Carbon: Carbon{GramsPerKWh: known(math.NaN(), 1)}, Load: Load{Running: known(1, 5), Waiting: known(math.Inf(1), 9)}}}
	c := mustCore(t, Config{}, member)
	load := c.Loads(9)[0].Load
	if load.Running != known(1, 5) || load.Waiting.Known() || load.KVUsed.Known() || c.workers[0].info.Carbon.GramsPerKWh.Known() {
		t.Errorf("law 18: load %+v", load)
	}
	c.SetLoad("w", known(2, 7), known(3, 7), known(math.Inf(-1), 7))
	c.SetLoad("nobody", known(2, 7), known(3, 7), known(4, 7))
	member.Zone = "fr" // a change
	if err := c.SetFleet(9, []Member{member}); err != nil {
		t.Fatal(err)
	}
	if load := c.Loads(9)[0].Load; load.Running != known(2, 7) || load.Waiting != known(3, 7) || load.KVUsed.Known() {
		t.Errorf("load %+v, want the newer figures", load)
	}
	if n := c.fleet; c.SetFleet(9, []Member{member}) != nil || c.fleet != n {
		t.Errorf("law 18: fleet %d after %d, with nothing new", c.fleet, n)
	}
	for _, id := range []string{"", strings.Repeat("x", maxWorkerID+1)} {
		if c.SetFleet(9, []Member{{Worker: Worker{ID: id}}}) == nil {
			t.Errorf("a worker was named %.10q", id)
		}
	}
	if c.SetFleet(9, make([]Member, MaxPlanWorkers+1)) == nil {
		t.Error("law 6: more workers than a plan may name")
	}
}

// TestTime holds that times and durations do not overflow.
func TestTime(t *testing.T) {
	const last, first = Time(math.MaxInt64), Never + 1
	for _, c := range []struct {
		got, want any
	}{
		{Time(5).Add(7), Time(12)}, {Time(5).Add(-7), Time(-2)},
		{Time(5).Add(math.MaxInt64), last}, {Time(-5).Add(math.MinInt64), first},
		{Time(5).Sub(7), time.Duration(-2)}, {Time(5).Sub(Never), time.Duration(math.MaxInt64)},
		{last.Sub(-5), time.Duration(math.MaxInt64)}, {Time(-5).Sub(last), time.Duration(math.MinInt64)},
		{Gauge{1, 5}.Age(7), time.Duration(2)}, {Gauge{1, 7}.Age(5), time.Duration(0)},
		{Unknown.Age(5), time.Duration(math.MaxInt64)}, {Unknown.Known(), false},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// TestForEver holds that the longest durations mean for ever, not never.
func TestForEver(t *testing.T) {
	const now = Time(1 << 60)
	c := mustCore(t, Config{
		MaxWait: math.MaxInt64, MaxLife: math.MaxInt64, AskDeadline: math.MaxInt64,
		Links: []Link{{"sticky", Info{Plans: true}}, {"route", Info{Routes: true}}},
	}, Member{Worker: Worker{ID: "w"}})
	mustInstall(t, c, 0, Plan{Bind: Bind{TTL: math.MaxInt64}})
	s := c.Arrive(now, Request{Key: 1})
	if s.Deadline < now {
		t.Errorf("law 18: to be answered by %v, at %v", s.Deadline, now)
	}
	if s = c.Answer(now, s.Ticket, Decision{Verdict: Wait, RetryAfter: math.MaxInt64}, true); s.Deadline < now {
		t.Errorf("law 18: to wait until %v, at %v", s.Deadline, now)
	}
	if s, ok := c.Wake(now); ok {
		t.Errorf("law 18: woken at once with step %d", s.Kind)
	}
	s = c.Arrive(now, Request{Key: 2})
	c.Answer(now, s.Ticket, Decision{}, true)
	if s := c.Arrive(now, Request{Key: 2}); s.Receipt.Reason != "hold" {
		t.Errorf("law 18: %+v, want the key held", s.Receipt)
	}
	if n := c.Tick(math.MaxInt64 - 1); n != 0 {
		t.Errorf("law 18: %d lives expired", n)
	}
}

// TestTimeRunsBackwards holds law 18 for a clock that is set back an hour.
func TestTimeRunsBackwards(t *testing.T) {
	const hour = Time(time.Hour)
	c := mustCore(t, Config{PeerLife: 10 * time.Second, Links: []Link{{"a", Info{Plans: true}}}}, Member{Worker: Worker{ID: "w"}})
	if err := c.Install(hour, 0, &Compiled{plan: &Plan{Version: 1, Rest: Rest{Order: ByRotation}}}); err != nil {
		t.Fatal(err)
	}
	s := c.Arrive(hour, Request{})
	c.FirstToken(0, s.Ticket)
	c.Finish(0, s.Ticket, Ending{})
	if load := c.Loads(0)[0].Load; load.TTFT.Value != 0 || load.Latency.Value != 0 {
		t.Errorf("law 18: it took %v and %v", load.TTFT, load.Latency)
	}
	if s := c.Arrive(0, Request{}); s.Receipt.PlanAge != 0 {
		t.Errorf("law 18: the plan is %v old", s.Receipt.PlanAge)
	}
	c.Import(hour, "peer", Snapshot{})
	if age := c.Loads(0)[0].Load.PeersAge; age != 0 {
		t.Errorf("law 18: figures are %v old", age)
	}
	c.Tick(0)
	if c.Tick(Time(11 * time.Second)); len(c.Peers()) != 0 {
		t.Error("law 18: a peer from the future stays")
	}
}

// TestNames holds that every name exists and that no number has none.
func TestNames(t *testing.T) {
	for i := range uint8(20) {
		for _, name := range []string{Outcome(i).String(), RefusalCode(i + 1).String(), Feature(i).String()} {
			if name == "" {
				t.Errorf("number %d has no name", i)
			}
		}
	}
	if Expired.String() != "expired" || NoAttempt.String() != "attempts_exhausted" || WorkingSet.String() != "working_set" || Outcome(9).String() != "unknown" {
		t.Error("names are out of order")
	}
}

// TestEstimatedKV holds that the KV use of an engine that does not tell it is what is
// in flight there, and that of one that tells nothing is unknown.
func TestEstimatedKV(t *testing.T) {
	c := mustCore(t, Config{}, Member{Worker: Worker{ID: "a", KVTokens: 1000}}, Member{Worker: Worker{ID: "b"}})
	for range 4 {
		s := c.Arrive(0, Request{PromptTokens: 100, MaxTokens: 50})
		c.Dispatched(0, s.Ticket, "a")
	}
	for _, test := range []struct {
		id                    string
		running, kvUsed, want Gauge
	}{
		{"a", Gauge{4, 7}, Unknown, Gauge{0.6, 7}},
		{"a", Gauge{4, 7}, Gauge{0.2, 8}, Gauge{0.2, 8}},
		{"a", Unknown, Unknown, Unknown},
		{"b", Gauge{4, 7}, Unknown, Unknown},
	} {
		c.SetLoad(test.id, test.running, Unknown, test.kvUsed)
		for _, w := range c.Loads(9) {
			if w.ID == test.id && w.Load.KVUsed != test.want {
				t.Errorf("%+v: KV use %+v", test, w.Load.KVUsed)
			}
		}
	}
}
