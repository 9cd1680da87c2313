package sim

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// TestLease passes from a gateway that is silent to the next, with a greater
// fence, and a plan under an older one is refused.
func TestLease(t *testing.T) {
	var s store
	s.init(2, 1)
	const ttl = 3 * time.Second
	sec := func(n float64) router.Time { return router.Time(n * 1e9) }
	first := s.acquire(0, 0, ttl)
	if first == 0 || s.acquire(sec(1), 1, ttl) != 0 || s.acquire(sec(2), 0, ttl) != first || s.acquire(sec(4.9), 1, ttl) != 0 {
		t.Fatal("the lease is not the first one's while it renews it")
	}
	second := s.acquire(sec(5), 1, ttl)
	if second <= first || second < 5e6 || s.acquire(sec(5), 0, ttl) != 0 {
		t.Fatalf("the fence was %d and is %d; want more, and not below the clock in microseconds", first, second)
	}
	plan := func(version uint64) *router.Compiled {
		p, err := router.Compile(&router.Plan{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if s.publish(0, plan(second+9), first) == nil {
		t.Error("a plan of the former planner was published")
	}
	if err := s.publish(0, plan(second), second); err != nil {
		t.Error(err)
	}
	if s.publish(0, plan(second), second) == nil {
		t.Error("a version was published twice")
	}
}

// TestFacts run out, and there are never more than the bound.
func TestFacts(t *testing.T) {
	var s store
	s.init(1, 0)
	write := func(now router.Time, key uint64, ttl time.Duration) {
		s.write(now, []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "f", Key: key}, Value: []byte("x")}, TTL: ttl}})
	}
	write(0, 1, time.Second)
	keys := []router.FactKey{{Family: "f", Key: 1}, {Family: "f", Key: 2}, {Family: "g", Key: 1}}
	if got := s.read(1, keys); len(got) != 1 || string(got[0].Value) != "x" {
		t.Errorf("got %v", got)
	}
	if got := s.read(1e9, keys); len(got) != 0 {
		t.Errorf("got %v of a fact that ran out", got)
	}
	for i := range uint64(maxFacts + 10) {
		write(0, i, time.Second)
	}
	if len(s.facts) != maxFacts {
		t.Errorf("%d facts, want %d", len(s.facts), maxFacts)
	}
	if s.sweep(2e9); len(s.facts) != 0 {
		t.Errorf("%d facts that ran out are kept", len(s.facts))
	}
}

// TestGatewaysSeeEachOther has every gateway send its requests to the worker that
// seems to have the least, with long answers. The sooner they tell each other, the
// more even the load.
func TestGatewaysSeeEachOther(t *testing.T) {
	spread := map[time.Duration]int{}
	for _, interval := range []time.Duration{20 * ms, time.Minute} {
		var requests []trace.Request
		for i := range 64 {
			requests = append(requests, call(time.Duration(i)*50*ms, 1, 1000, 0))
		}
		c := Config{Trace: traffic(requests...), Workers: Fleet(8, tenfold()), Seed: 3}
		c.Open = func(int) ([]Link, error) { return chain(t, "least-busy"), nil }
		c.Chain, _ = c.Open(0)
		c.Options.Gateways, c.Options.SyncInterval = 4, interval
		loads := make([]int, 8)
		for _, q := range run(t, c).Requests {
			loads[q.Worker]++
		}
		most, least := 0, 64
		for _, n := range loads {
			most, least = max(most, n), min(least, n)
		}
		spread[interval] = most - least
	}
	if spread[20*ms] > 2 || spread[time.Minute] <= spread[20*ms] {
		t.Errorf("the spread of load is %v by interval", spread)
	}
}

// TestGatewaysShareThePlans has all gateways follow the plan of one, and after a
// crash of the planner that of another.
func TestGatewaysShareThePlans(t *testing.T) {
	made := map[string]int{}
	c := Config{Trace: every(60), Workers: Fleet(2, tenfold()), Seed: 1}
	c.Open = func(n int) ([]Link, error) {
		return only(&custom{info: router.Info{Plans: true}, plan: func(in router.PlanInput) (router.Plan, error) {
			made[fmt.Sprint(n)]++
			p := router.Plan{}
			for _, w := range in.Fleet.Workers {
				p.Workers = append(p.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
			}
			p.Table.Append(key(5), uint16(n%2))
			return p, nil
		}}), nil
	}
	c.Chain, _ = c.Open(0)
	c.Options.Gateways = 3
	f, err := ParseFault("gateway-crash:g0@20s+20s")
	if err != nil {
		t.Fatal(err)
	}
	c.Options.Faults = []Fault{f}
	r := run(t, c)
	for i, q := range r.Requests {
		// The lease runs out 3 s after the last exchange, at 20 s; the next gateway has
		// it at its next exchange, and the third one its plan an exchange later.
		if want := int16(0); i < 20 && q.Worker != want {
			t.Errorf("request %d went to worker %d, want %d", i, q.Worker, want)
		}
		if want := int16(1); i > 25 && q.Worker != want {
			t.Errorf("request %d went to worker %d, want %d", i, q.Worker, want)
		}
	}
	if made["0"] < 2 || made["1"] < 3 || made["2"] != 0 {
		t.Errorf("plans made by gateway: %v", made)
	}
}
