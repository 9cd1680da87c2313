package sim

import (
	"slices"
	"testing"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// one is a fleet of one worker with room for a number of requests.
func one(concurrency int) []Worker {
	fleet := Fleet(1, tenfold())
	fleet[0].Concurrency = concurrency
	return fleet
}

// TestQueue has a worker that takes one request at a time. Each takes 20 ms and
// the next one begins at once.
func TestQueue(t *testing.T) {
	r := run(t, Config{
		Trace:   traffic(call(0, 10, 2, 0), call(1*ms, 10, 2, 0), call(2*ms, 10, 2, 0)),
		Workers: one(1),
	})
	for i, want := range []time.Duration{20 * ms, 40 * ms, 60 * ms} {
		if got := r.Requests[i].Ended; got != want {
			t.Errorf("request %d ended at %v, want %v", i, got, want)
		}
	}
}

// TestQueueTimeout gives up 30 s after arrival; TestQueueFull turns away what the
// queue of 1,024 has no room for.
func TestQueueTimeout(t *testing.T) {
	r := run(t, Config{
		Trace:   traffic(call(0, 10, 1500, 0), call(300*ms, 10, 1500, 0), call(30*time.Second, 10, 1, 0)),
		Workers: []Worker{slowed(one(1)[0])},
	})
	if got := r.Requests[1]; got.Outcome != measure.QueueTimeout || got.Ended != 30300*ms || got.Worker != -1 {
		t.Errorf("got %+v, want a time-out at 30.3s", got)
	}
	if got := r.Requests[2].Outcome; got != measure.Complete {
		t.Errorf("the request after it: %v", got)
	}
}

// slowed takes 30 ms a step, so 1,500 tokens take 45 s.
func slowed(w Worker) Worker {
	w.Profile.WeightsMS = 30
	return w
}

func TestQueueFull(t *testing.T) {
	requests := make([]trace.Request, 1030)
	for i := range requests {
		requests[i] = call(0, 10, 1, 0)
	}
	r := run(t, Config{Trace: traffic(requests...), Workers: one(1)})
	full := 0
	for i := range r.Requests {
		if r.Requests[i].Outcome == measure.QueueFull {
			full++
			if r.Requests[i].Ended != 0 {
				t.Errorf("request %d was turned away at %v, want at once", i, r.Requests[i].Ended)
			}
		}
	}
	if full != 5 {
		t.Errorf("%d requests were turned away, want 5 of 1,030 with one running and 1,024 waiting", full)
	}
}

// TestRoute asks a strategy for each request and tells it what happened before.
func TestRoute(t *testing.T) {
	var seen []router.EventKind
	s := &custom{info: router.Info{Routes: true, Observes: []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished}}}
	s.observe = func(events []router.Event) {
		for _, e := range events {
			seen = append(seen, e.Kind)
		}
	}
	var before [][]router.EventKind
	s.route = func(in router.Input) router.Decision {
		before = append(before, slices.Clone(seen))
		switch in.Request.ID {
		case "0":
			return to(1, "mine")
		case "1":
			return router.Decision{Verdict: router.Refuse, Reason: "no"}
		}
		return router.Decision{}
	}
	r := run(t, Config{
		Trace:   traffic(call(0, 10, 2, 0), call(50*ms, 10, 1, 0), call(60*ms, 10, 1, 0)),
		Workers: Fleet(2, tenfold()), Chain: only(s),
	})
	if r.Requests[0].Worker != 1 || r.Requests[1].Outcome != measure.RefusedByStrategy || r.Requests[2].Outcome != measure.Complete {
		t.Errorf("got %+v", r.Requests)
	}
	want := []measure.Decision{{Strategy: "custom", Reason: "mine", Count: 1}, {Strategy: router.BuiltIn, Reason: "rest", Fallback: "passed", Count: 1}}
	if !slices.Equal(r.Decisions, want) {
		t.Errorf("decisions: %+v, want %+v", r.Decisions, want)
	}
	all := []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished, router.Arrived, router.Arrived}
	for i, n := range []int{1, 5, 6} {
		if !slices.Equal(before[i], all[:n]) {
			t.Errorf("before request %d the strategy had seen %v, want %v", i, before[i], all[:n])
		}
	}
}

// TestWait keeps a request for the time that a strategy asked for, and asks again.
func TestWait(t *testing.T) {
	asked := 0
	s := &custom{info: router.Info{Routes: true}, route: func(router.Input) router.Decision {
		if asked++; asked == 1 {
			return router.Decision{Verdict: router.Wait, RetryAfter: 400 * ms}
		}
		return to(0, "now")
	}}
	r := run(t, Config{Trace: traffic(call(100*ms, 10, 1, 0)), Workers: Fleet(1, tenfold()), Chain: only(s)})
	if got := r.Requests[0].Ended; got != 510*ms || asked != 2 {
		t.Errorf("ended at %v after %d calls, want 510ms after 2", got, asked)
	}
}

// TestFactsOfAGatewayAlone: a strategy finds what it wrote with the next request of
// the key; the store of one gateway is its own memory and takes no time.
func TestFactsOfAGatewayAlone(t *testing.T) {
	var found []string
	s := &custom{info: router.Info{Routes: true, Facts: []string{"seen"}}, route: func(in router.Input) router.Decision {
		value := ""
		for _, f := range in.Facts {
			value += string(f.Value)
		}
		found = append(found, value)
		d := to(0, "mine")
		d.Writes = []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "seen", Key: in.Request.Key}, Value: []byte(in.Request.ID)}, TTL: time.Minute}}
		return d
	}}
	c := Config{Trace: traffic(call(0, 10, 1, 1), call(time.Second, 10, 1, 1), call(2*time.Second, 10, 1, 2)), Workers: Fleet(1, tenfold()), Chain: only(s)}
	c.Options.StoreDelay = time.Hour
	r := run(t, c)
	if len(found) != 3 || found[0] != "" || found[1] == "" || found[2] != "" {
		t.Errorf("the requests came with the facts %q", found)
	}
	if got := r.Requests[1].First; got != time.Second+10*ms {
		t.Errorf("first token at %v, want 1.01s", got)
	}
}

// TestDecisionDelay adds the time of a call; from the deadline of 25 ms on the
// answer has no effect, and the built-in strategy decides then.
func TestDecisionDelay(t *testing.T) {
	for _, x := range []struct {
		delay, first time.Duration
		by           string
	}{{0, 10 * ms, "custom"}, {7 * ms, 17 * ms, "custom"}, {25 * ms, 35 * ms, router.BuiltIn}, {time.Hour, 35 * ms, router.BuiltIn}} {
		s := &custom{info: router.Info{Routes: true}, route: func(router.Input) router.Decision { return to(0, "mine") }}
		c := Config{Trace: traffic(call(0, 10, 1, 0)), Workers: Fleet(1, tenfold()), Chain: only(s)}
		c.Options.DecisionDelay = x.delay
		r := run(t, c)
		if r.Requests[0].First != x.first || r.Decisions[0].Strategy != x.by {
			t.Errorf("delay %v: first token at %v by %s, want %v by %s", x.delay, r.Requests[0].First, r.Decisions[0].Strategy, x.first, x.by)
		}
	}
}
