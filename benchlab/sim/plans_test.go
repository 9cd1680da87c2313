package sim

import (
	"errors"
	"math"
	"testing"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// every is a request each second for n seconds, all of one session.
func every(n int) *trace.Trace {
	var requests []trace.Request
	for i := range n {
		requests = append(requests, call(time.Duration(i)*time.Second, 10, 1, 5))
	}
	return traffic(requests...)
}

// TestPlans sends one key to worker 1 by the first plan and to worker 0 by the
// second and the fourth. The first is made at the start, one second before the
// traffic; each is in force half a second later and the next one is due 10 s after
// that, as in a gateway.
func TestPlans(t *testing.T) {
	made := 0
	s := &custom{info: router.Info{Plans: true}}
	s.plan = func(in router.PlanInput) (router.Plan, error) {
		if made++; made == 3 {
			return router.Plan{}, errors.New("no third plan")
		}
		p := router.Plan{}
		for _, w := range in.Fleet.Workers {
			p.Workers = append(p.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
		}
		p.Table.Append(key(5), uint16(made%2))
		return p, nil
	}
	c := Config{Trace: every(40), Workers: Fleet(2, tenfold()), Chain: only(s)}
	c.Options.PlanDelay = 500 * ms
	r := run(t, c)
	// Made at -1, 9.5, 20 (fails) and 30 s.
	for i := range r.Requests {
		want := int16(1)
		if i >= 10 {
			want = 0
		}
		if got := r.Requests[i].Worker; got != want {
			t.Errorf("request %d went to worker %d, want %d", i, got, want)
		}
	}
	got := r.Strategies[0]
	if got.Plans != 3 || got.Failed != 1 || got.FirstError != "no third plan" || got.Keys != 1 || got.Compared != 2 || got.Churn.Or(-1) != 0.5 {
		t.Errorf("got %+v", got)
	}
}

// TestChurn compares {a, b} with {b, c}: one common worker of three.
func TestChurn(t *testing.T) {
	workers := []router.WorkerRef{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	before, after := &router.Plan{Workers: workers}, &router.Plan{Workers: []router.WorkerRef{{ID: "c"}, {ID: "b"}}}
	before.Table.Append(9, 0, 1)
	before.Table.Append(8, 0)
	after.Table.Append(7, 0)
	after.Table.Append(9, 0, 1)
	if sum, keys := churned(before, after); math.Abs(sum-2.0/3) > 1e-12 || keys != 1 {
		t.Errorf("got %v over %d keys, want 2/3 over 1", sum, keys)
	}
}

// TestRenewal keeps the grid's intensity fresh on long traces.
func TestRenewal(t *testing.T) {
	oldest := time.Duration(0)
	s := &custom{info: router.Info{Plans: true}, plan: func(in router.PlanInput) (router.Plan, error) {
		oldest = max(oldest, in.Fleet.Workers[0].Carbon.GramsPerKWh.Age(in.Now))
		return router.Plan{}, nil
	}}
	run(t, Config{
		Trace:   traffic(call(0, 10, 1, 0), call(5*time.Hour, 10, 1, 0)),
		Workers: Fleet(1, tenfold()), Chain: only(s),
	})
	if oldest > time.Hour || oldest < 50*time.Minute {
		t.Errorf("the oldest intensity was %v old, want nearly an hour and no more", oldest)
	}
}

// TestStaleness shows strategies figures as old as the interval at which they are
// read, and older ones while reading fails.
func TestStaleness(t *testing.T) {
	for _, x := range []struct {
		interval time.Duration
		fault    string
		oldest   time.Duration
	}{{0, "", time.Second}, {5 * time.Second, "", 5 * time.Second}, {time.Second, "stale-metrics@10s+9500ms", 11 * time.Second}} {
		oldest := time.Duration(0)
		s := &custom{info: router.Info{Routes: true}, route: func(in router.Input) router.Decision {
			oldest = max(oldest, in.Workers[0].Load.KVUsed.Age(in.Now))
			return router.Decision{}
		}}
		var requests []trace.Request
		for i := range 300 {
			requests = append(requests, call(time.Duration(i)*100*ms, 10, 1, 0))
		}
		c := Config{Trace: traffic(requests...), Workers: Fleet(1, tenfold()), Chain: only(s)}
		c.Options.ScrapeInterval = x.interval
		if x.fault != "" {
			f, err := ParseFault(x.fault)
			if err != nil {
				t.Fatal(err)
			}
			c.Options.Faults = []Fault{f}
		}
		run(t, c)
		if oldest < x.oldest-200*ms || oldest > x.oldest {
			t.Errorf("interval %v, fault %q: the oldest figure was %v old, want nearly %v", x.interval, x.fault, oldest, x.oldest)
		}
	}
}

// TestProtect has one key with a place at the only worker, and so much other
// traffic that its blocks would be evicted.
func TestProtect(t *testing.T) {
	for _, protect := range []bool{false, true} {
		s := &custom{info: router.Info{Plans: true}, plan: func(in router.PlanInput) (router.Plan, error) {
			p := router.Plan{Workers: []router.WorkerRef{{ID: in.Fleet.Workers[0].ID, Incarnation: 1}}}
			p.Table.Append(key(5), 0)
			return p, nil
		}}
		requests := []trace.Request{call(0, 160, 1, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}
		for i := range 20 {
			r := call(time.Duration(1+i)*5*time.Second, 160, 1, 6)
			for k := range 10 {
				r.Blocks = append(r.Blocks, uint64(1000+100*i+k))
			}
			requests = append(requests, r)
		}
		again := requests[0]
		again.At = 110 * time.Second
		c := Config{Trace: traffic(append(requests, again)...), Workers: Fleet(1, tenfold()), Chain: only(s)}
		c.Options.Protect = protect
		want := measure.Misses{Compulsory: 16, Evicted: 144}
		if protect {
			want.Evicted = 0
		}
		if got := run(t, c).Requests[21]; got.Misses != want {
			t.Errorf("protect=%v: the last request is %+v, want misses %+v", protect, got, want)
		}
	}
}

// TestScraped shows strategies the workers' own figures, one second old at most.
func TestScraped(t *testing.T) {
	running := -1.0
	s := &custom{info: router.Info{Routes: true}, route: func(in router.Input) router.Decision {
		if g := in.Workers[0].Load.Running; in.Request.ID == "1" && g.Age(in.Now) <= time.Second {
			running = g.Value
		}
		return router.Decision{}
	}}
	r := run(t, Config{
		Trace:   traffic(call(0, 10, 500, 0), call(1500*ms, 10, 1, 0)),
		Workers: Fleet(1, tenfold()), Chain: only(s),
	})
	if running != 1 || r.Requests[1].Outcome != measure.Complete {
		t.Errorf("the scraped number of running sequences was %v, want 1", running)
	}
}
