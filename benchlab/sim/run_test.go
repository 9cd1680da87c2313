package sim

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// TestByHand simulates three requests on two workers. Request 0 computes 32
// tokens on worker 0 until 32 ms; request 2 joins it there at the next step, finds
// its first two blocks in the cache and computes 8 tokens beside a decode in 10 ms.
// Request 1 has worker 1 for itself.
func TestByHand(t *testing.T) {
	c := Config{
		Trace: traffic(
			call(0, 32, 3, 1, 1, 2),
			call(5*ms, 8, 2, 2, 7),
			call(20*ms, 40, 2, 3, 1, 2, 3)),
		Workers: Fleet(2, tenfold()), Chain: chain(t, "round-robin"), Seed: 1,
	}
	r := run(t, c)
	want := []measure.Request{
		{Arrived: 0, First: 32 * ms, Ended: 52 * ms, Prompt: 32, Output: 3, Misses: measure.Misses{Compulsory: 32}, Worker: 0, Outcome: measure.Complete, Attempts: 1},
		{Arrived: 5 * ms, First: 15 * ms, Ended: 25 * ms, Prompt: 8, Output: 2, Misses: measure.Misses{Compulsory: 8}, Worker: 1, Outcome: measure.Complete, Attempts: 1},
		{Arrived: 20 * ms, First: 42 * ms, Ended: 52 * ms, Prompt: 40, Output: 2, Cached: 32, Misses: measure.Misses{Compulsory: 8}, Worker: 0, Outcome: measure.Complete, Attempts: 1},
	}
	for i := range want {
		if r.Requests[i] != want[i] {
			t.Errorf("request %d: got %+v, want %+v", i, r.Requests[i], want[i])
		}
	}
	f := measure.Of(r, measure.SLO{TTFT: 25 * ms, TPOT: 50 * ms})
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"seconds", f.Seconds, 0.052},
		{"kv hit", f.KVHit.Or(-1), 32.0 / 80},
		{"mean ttft", f.TTFT.Mean.Or(-1), (0.032 + 0.010 + 0.022) / 3},
		{"p50 ttft", f.TTFT.P50.Or(-1), 0.022},
		{"mean tpot", f.TPOT.Mean.Or(-1), 0.010},
		{"goodput", f.Goodput, 2 / 0.052},
		{"throughput", f.Throughput, 3 / 0.052},
		{"imbalance of requests", f.ImbalanceRequests.Or(-1), 2 / 1.5},
		{"imbalance of tokens", f.ImbalanceTokens.Or(-1), 45 / 27.5},
		{"prefill utilisation", f.PrefillUtilisation.Or(-1), (0.042 + 0.010) / 2 / 0.052},
		{"busy", f.Busy.Or(-1), (0.052 + 0.020) / 2 / 0.052},
		{"joules per token", f.JoulesPerToken.Or(-1), 7.2 / 7},
		{"grams", f.Grams.Or(-1), 1.58 * (5.2*56 + 2.0*381) / 3.6e6},
	} {
		if math.Abs(x.got-x.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", x.name, x.got, x.want)
		}
	}
	if f.TTFT.P99 != (engine.Figure{}) {
		t.Errorf("p99 of three samples is %v, want unknown", f.TTFT.P99)
	}
}

// TestSame holds that equal configs give equal runs, side by side or alone, and
// that another seed gives another one.
func TestSame(t *testing.T) {
	tr := randomTrace(rand.New(rand.NewPCG(7, 7)))
	for _, names := range [][]string{{"least-busy"}, {"cacheroute", "sticky", "joule"}, {"p2c"}, {"carbon"}} {
		runs := make([]*measure.Run, 3)
		var all sync.WaitGroup
		for i := range runs {
			seed := uint64(1 + i/2) // 1, 1, 2
			links := chain(t, names...)
			all.Go(func() {
				runs[i], _ = Run(context.Background(), Config{Trace: tr, Workers: Fleet(4, tenfold()), Chain: links, Seed: seed})
			})
		}
		all.Wait()
		if runs[0] == nil || !reflect.DeepEqual(runs[0], runs[1]) {
			t.Errorf("%v: equal configs gave different runs", names)
		}
		if names[0] == "p2c" && reflect.DeepEqual(runs[0], runs[2]) {
			t.Errorf("%v: another seed gave the same run", names)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	c := Config{Trace: every(40), Workers: Fleet(1, tenfold())}
	c.Options.Progress = func(ended int) {
		if ended > 3 {
			cancel(why)
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the cancelled context", err)
	}
}

func TestBadConfig(t *testing.T) {
	fleet := Fleet(2, tenfold())
	mixed := Fleet(2, tenfold())
	mixed[1].Profile.BlockTokens = 32
	ok := traffic(call(0, 8, 1, 0))
	for _, x := range []struct {
		c    Config
		want string
	}{
		{Config{Workers: fleet}, "no requests"},
		{Config{Trace: traffic(), Workers: fleet}, "no requests"},
		{Config{Trace: ok}, "0 workers"},
		{Config{Trace: traffic(call(0, 50, 1, 0), call(0, 0, 1, 0)), Workers: fleet}, "row 1 of trace test has 0 prompt and 1 answer tokens"},
		{Config{Trace: ok, Outline: NewOutline(ok), Workers: fleet, Options: Options{Timing: Sessions}}, "use timing recorded"},
		{Config{Trace: ok, Workers: []Worker{fleet[1], fleet[0]}}, "order workers by ID"},
		{Config{Trace: ok, Workers: mixed}, "worker worker-1: blocks of 16 tokens"},
		{Config{Trace: ok, Workers: fleet, Options: Options{PlanDelay: -1}}, "negative"},
		{Config{Trace: ok, Workers: []Worker{{Worker: router.Worker{ID: "a"}}}}, "worker a: engine profile"},
		{Config{Trace: &trace.Trace{BlockTokens: 24, Requests: ok.Requests}, Workers: fleet}, "cannot be cut into blocks of 16"},
		{Config{Trace: ok, Workers: fleet, Chain: chain(t, "sticky", "sticky")}, "repeated"},
		{Config{Trace: ok, Workers: fleet, Chain: []Link{{"liar", liar{}}}}, "strategy liar wants Route to be called"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Gateways: 65}}, "65 gateways, want 1 to 64"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Gateways: -1}}, "-1 gateways"},
		{Config{Trace: ok, Workers: fleet, Options: Options{SyncInterval: 1}}, "shorter than 1ms"},
		{Config{Trace: ok, Workers: fleet, Options: Options{ScrapeInterval: 1e6 * time.Hour}}, "longer than 744h"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Timing: 7}}, "no such timing"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Faults: []Fault{{Kind: Crash, Target: 2}}}}, "fault crash:w2@0s cannot happen; there are w0 to w1"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Faults: []Fault{{Kind: GatewayCut, Target: 1}}}}, "cannot happen"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Faults: []Fault{{}}}}, "cannot happen"},
		{Config{Trace: ok, Workers: fleet, Options: Options{Faults: []Fault{{Kind: Slow}}}}, "cannot happen"},
		{Config{Trace: ok, Workers: fleet, Outline: NewOutline(every(2))}, "outline is of another trace"},
		{Config{Trace: ok, Workers: fleet, Chain: chain(t, "sticky"), Options: Options{Gateways: 2}}, "need Open"},
		{Config{Trace: ok, Workers: fleet, Chain: chain(t, "sticky"), Options: Options{Faults: []Fault{{Kind: GatewayCrash, For: 1}}}}, "need Open"},
		{Config{Trace: ok, Workers: fleet, Chain: chain(t, "sticky"), Open: opens(chain(t, "joule"), nil), Options: Options{Gateways: 2}}, "gateway 1 has other strategies"},
		{Config{Trace: ok, Workers: fleet, Chain: chain(t, "sticky"), Open: opens(nil, errors.New("no room")), Options: Options{Gateways: 2}}, "chain of gateway 1: no room"},
	} {
		if _, err := Run(context.Background(), x.c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want an error with %q", err, x.want)
		}
	}
}

func opens(links []Link, err error) func(int) ([]Link, error) {
	return func(int) ([]Link, error) { return links, err }
}

type liar struct{}

func (liar) Info() router.Info { return router.Info{Routes: true} }

// TestEmptyAnswers ends requests for no output with their prefill.
func TestEmptyAnswers(t *testing.T) {
	r := run(t, Config{Trace: traffic(call(0, 50, 0, 0)), Workers: Fleet(1, tenfold())})
	want := measure.Request{First: 50 * ms, Ended: 50 * ms, Prompt: 50, Misses: measure.Misses{Compulsory: 50}, Outcome: measure.Complete, Attempts: 1}
	if r.Requests[0] != want {
		t.Errorf("got %+v, want %+v", r.Requests[0], want)
	}
	if got := r.Workers[0].Prefill; got != 50*ms {
		t.Errorf("prefill took %v, want 50ms", got)
	}
}

// TestTooLarge refuses what never fits the KV cache of 1,600 tokens.
func TestTooLarge(t *testing.T) {
	r := run(t, Config{
		Trace:   traffic(call(0, 1700, 1, 0), call(0, 1600, 1, 0), call(0, 1600, 2, 0)),
		Workers: Fleet(1, tenfold()),
	})
	for i, want := range []measure.Outcome{measure.TooLarge, measure.Complete, measure.TooLarge} {
		if got := r.Requests[i].Outcome; got != want {
			t.Errorf("request %d: got %v, want %v", i, got, want)
		}
	}
	f := measure.Of(r, measure.SLO{TTFT: time.Hour, TPOT: time.Hour})
	if len(f.Failures) != 1 || f.Failures[0] != (measure.Failure{Kind: "too_large", Count: 2}) {
		t.Errorf("failures: %v", f.Failures)
	}
}
