package measure

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
)

const ms = time.Millisecond

var slo = SLO{TTFT: 2 * time.Second, TPOT: 50 * ms}

// completed are n requests a second apart whose first token takes 1, 2, 3 ... ms.
func completed(n int) []Request {
	out := make([]Request, n)
	for i := range out {
		at := time.Duration(i) * time.Second
		first := at + time.Duration(i+1)*ms
		out[i] = Request{Arrived: at, First: first, Ended: first + 90*ms, Prompt: 100, Output: 10, Outcome: Complete}
	}
	return out
}

func near(t *testing.T, name string, got engine.Figure, want float64) {
	t.Helper()
	if v, known := got.Value(); !known || math.Abs(v-want) > 1e-12 {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestPercentiles are by nearest rank, never beyond the maximum, and there is no
// p99 of fewer than 100 samples.
func TestPercentiles(t *testing.T) {
	for _, x := range []struct {
		n             int
		p50, p99, max float64 // ms; p99 0: unknown
	}{{1, 1, 0, 1}, {8, 4, 0, 8}, {50, 25, 0, 50}, {99, 50, 0, 99}, {100, 50, 99, 100}, {101, 51, 100, 101}, {1000, 500, 990, 1000}} {
		f := Of(&Run{Workers: make([]Worker, 1), Requests: completed(x.n)}, slo).TTFT
		near(t, "p50", f.P50, x.p50/1e3)
		near(t, "max", f.Max, x.max/1e3)
		near(t, "mean", f.Mean, float64(x.n+1)/2e3)
		if x.p99 > 0 {
			near(t, "p99", f.P99, x.p99/1e3)
			near(t, "p99 with failures", f.P99All, x.p99/1e3)
		} else if f.P99 != (engine.Figure{}) || f.P99All != (engine.Figure{}) {
			t.Errorf("%d samples have a p99: %v, %v", x.n, f.P99, f.P99All)
		}
	}
}

// TestFailures counts failures by kind, as misses of the SLO and as infinite.
func TestFailures(t *testing.T) {
	r := completed(1000)
	for i := range 100 {
		r[i*10].Outcome = QueueFull
	}
	for i := range 50 {
		r[i*10+1].Outcome = TooLarge
	}
	for i := range 20 {
		r[i*10+2].Outcome = AttemptsExhausted
	}
	f := Of(&Run{Workers: make([]Worker, 1), Requests: r}, slo)
	want := []Failure{{"too_large", 50}, {"queue_full", 100}, {"attempts_exhausted", 20}}
	if len(f.Failures) != len(want) {
		t.Fatalf("got %v, want %v", f.Failures, want)
	}
	for i := range want {
		if f.Failures[i] != want[i] {
			t.Errorf("got %v, want %v", f.Failures[i], want[i])
		}
	}
	if f.Completed != 830 || f.WithinSLO != 0.83 || f.TTFT.N != 830 {
		t.Errorf("%d completed, %v within the SLO, %d samples; want 830, 0.83, 830", f.Completed, f.WithinSLO, f.TTFT.N)
	}
	if f.TTFT.P99 == (engine.Figure{}) || f.TTFT.P99All != (engine.Figure{}) {
		t.Errorf("p99 is %v without failures and %v with, want a number and infinity", f.TTFT.P99, f.TTFT.P99All)
	}
}

// TestSLO has one request each that is good, late and slow, and one without later
// tokens, which cannot be slow.
func TestSLO(t *testing.T) {
	r := []Request{
		{First: 2 * time.Second, Ended: 2*time.Second + 450*ms, Prompt: 1, Output: 10, Outcome: Complete},
		{First: 2*time.Second + 1, Ended: 3 * time.Second, Prompt: 1, Output: 100, Outcome: Complete},
		{First: ms, Ended: ms + 451*ms, Prompt: 1, Output: 10, Outcome: Complete},
		{First: ms, Ended: ms, Prompt: 1, Output: 1, Outcome: Complete},
	}
	f := Of(&Run{Workers: make([]Worker, 1), Requests: r}, slo)
	if f.WithinSLO != 0.5 || f.Seconds != 3 || f.Goodput != 2.0/3 || f.TPOT.N != 3 {
		t.Errorf("got %v of the requests in %v s, %v/s, %d TPOT samples", f.WithinSLO, f.Seconds, f.Goodput, f.TPOT.N)
	}
}

// TestUnknown keeps what is unknown apart from zero.
func TestUnknown(t *testing.T) {
	known := Worker{PUE: engine.Known(1), GramsPerKWh: engine.Known(100), Stats: engine.Stats{GeneratedTokens: 10, Joules: engine.Known(3.6e6)}}
	noJoules, noZone := known, known
	noJoules.Stats.Joules = engine.Figure{}
	noZone.GramsPerKWh = engine.Figure{}
	for _, x := range []struct {
		second        Worker
		joules, grams string
	}{{known, "7.2e+06", "200"}, {noJoules, "unknown", "unknown"}, {noZone, "7.2e+06", "unknown"}} {
		b := Of(&Run{Workers: []Worker{known, x.second}, Requests: completed(1)}, slo).Balance
		if b.Joules.String() != x.joules || b.Grams.String() != x.grams {
			t.Errorf("got %v J and %v g, want %s and %s", b.Joules, b.Grams, x.joules, x.grams)
		}
	}
	b, err := json.Marshal(Of(&Run{}, slo))
	if err != nil || !strings.Contains(string(b), `"kv_hit":null`) {
		t.Errorf("figures of nothing: %s, %v", b, err)
	}
}

// TestChurn weighs strategies by the keys that were compared.
func TestChurn(t *testing.T) {
	r := &Run{Strategies: []Strategy{{Churn: engine.Known(0.5), Compared: 30}, {}, {Churn: engine.Known(0.1), Compared: 10}}}
	near(t, "churn", Of(r, slo).Churn, 0.4)
}

func TestOutcomeNames(t *testing.T) {
	seen := map[string]bool{}
	for o := range numOutcomes {
		if name := o.String(); name == "" || seen[name] {
			t.Errorf("outcome %d is called %q", o, name)
		} else {
			seen[name] = true
		}
	}
	if Outcome(200).String() != "unknown" {
		t.Error("an outcome out of range has a name")
	}
}

// TestRequestIsSmall keeps results of long traces in memory.
func TestRequestIsSmall(t *testing.T) {
	if n := reflect.TypeFor[Request]().Size(); n > 64 {
		t.Errorf("a request takes %d bytes, at most 64 are allowed", n)
	}
}
