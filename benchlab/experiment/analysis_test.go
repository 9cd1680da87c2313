package experiment

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/stats"
)

const ms = time.Millisecond

var slo = measure.SLO{TTFT: 300 * ms, TPOT: 40 * ms}

// made is a run of requests in sessions, the first tokens of which take the given
// time more than chance has it. A share of the requests fails.
func made(seed uint64, requests int, more time.Duration, failing float64) *measure.Run {
	rng := rand.New(rand.NewPCG(seed, 1))
	run := &measure.Run{Workers: make([]measure.Worker, 2)}
	for i := range requests {
		at := time.Duration(i) * 50 * ms
		first := at + more + time.Duration(rng.ExpFloat64()*float64(100*ms))
		output := int32(rng.IntN(20))
		cached := int32(rng.IntN(50))
		q := measure.Request{
			Arrived: at, First: first, Ended: first + time.Duration(output)*30*ms, Prompt: 100, Cached: cached, Output: output,
			Misses: measure.Misses{Compulsory: 90 - cached, Stale: 10}, Worker: int16(i % 2), Outcome: measure.Complete,
		}
		if rng.Float64() < failing {
			q = measure.Request{Arrived: at, First: at, Ended: at, Worker: -1, Outcome: measure.QueueFull}
		}
		run.Requests = append(run.Requests, q)
	}
	return run
}

func sessions(requests int) []uint64 {
	out := make([]uint64, requests)
	for i := range out {
		out[i] = 1 + uint64(i/3)
	}
	return out
}

// analysed runs contenders that differ by the given times.
func analysed(t *testing.T, requests, seeds int, failing float64, more ...time.Duration) (*Analysis, *report.Comparison) {
	t.Helper()
	p := Plan{SLO: slo, Draws: 200, Setup: report.Setup{Trace: report.Trace{Span: float64(requests) * 0.05}}}
	for i := range more {
		p.Contenders = append(p.Contenders, string(rune('a'+i)))
	}
	for s := range seeds {
		p.Seeds = append(p.Seeds, uint64(s+1))
	}
	a, err := NewAnalysis(p)
	if err != nil {
		t.Fatal(err)
	}
	for s := range seeds {
		for c, m := range more {
			if err := a.Add(Cell{c, s}, sessions(requests), made(uint64(s), requests, m, failing)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// TestFigures holds that what is resampled are the figures of measure.
func TestFigures(t *testing.T) {
	for _, failing := range []float64{0, 0.005, 0.1} {
		a, c := analysed(t, 600, 2, failing, 0, 20*ms)
		runs := [][]*stats.Run{{a.kept[0][0].resampled, a.kept[0][1].resampled}}
		drawn := stats.Bootstrap(a.clusters.Len(), runs, 1, 1)
		number := 0
		for k := range c.Figures {
			col := &c.Figures[k]
			if !col.Sessions {
				continue
			}
			for s, want := range a.values(0, col) {
				got := drawn[0][number].Values[s]
				if !(math.Abs(got-want) <= 1e-6*math.Abs(want)) && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s of seed %d: resampled from %v, measured %v", col.Name, s, got, want)
				}
			}
			number++
		}
	}
}

// TestVerdicts tells contenders apart that differ, and no others.
func TestVerdicts(t *testing.T) {
	_, c := analysed(t, 600, 5, 0, 50*ms, 0, 50*ms, 100*ms)
	for i, want := range []report.Standing{"", report.Better, report.Indistinguishable, report.Worse} {
		for _, name := range []string{"ttft.mean", "ttft.p50", "goodput"} {
			d := c.Contenders[i].Figures[name].Difference
			if i == 0 {
				if d != nil || !c.Contenders[i].Baseline {
					t.Errorf("the baseline has a difference to itself: %v", d)
				}
				continue
			}
			if d.Verdict != want {
				t.Errorf("%s of %s is %q, want %q: %+v", name, c.Contenders[i].Name, d.Verdict, want, d)
			}
		}
	}
	same := c.Contenders[2].Figures["ttft.p99"].Difference
	if same.Mean.Or(1) != 0 || same.Low.Or(1) != 0 || same.P.Or(0) != 1 {
		t.Errorf("two contenders that do the same differ: %+v", same)
	}
	d := c.Contenders[3].Figures["ttft.mean"].Difference
	if math.Abs(d.Mean.Or(0)-0.05) > 0.001 || !(d.Low.Or(0) < 0.05 && d.High.Or(0) > 0.05) || d.P.Or(1) > 0.001 || d.Detectable.Or(1) > 0.02 {
		t.Errorf("50 ms more are %+v", d)
	}
	if e := c.Contenders[1].Figures["kv_hit"].Difference; e.Verdict != report.Indistinguishable {
		t.Errorf("equal hits are %+v", e)
	}
}

// TestDescriptions covers curves, misses and what is unknown.
func TestDescriptions(t *testing.T) {
	_, c := analysed(t, 90, 1, 0, 0)
	k := &c.Contenders[0]
	if f := k.Figures["ttft.p99"]; f.Mean.String() != "unknown" || f.Low.String() != "unknown" {
		t.Errorf("a p99 of 90 samples: %+v", f)
	}
	if f := k.Figures["energy"]; f.Low.String() != "unknown" {
		t.Errorf("a figure that a run has once has an interval of one seed: %+v", f)
	}
	if f := k.Figures["ttft.mean"]; !(f.Low.Or(9) < f.Mean.Or(0) && f.Mean.Or(9) < f.High.Or(0)) {
		t.Errorf("mean TTFT is %+v", f)
	}
	m := &k.Misses
	if sum := m.Cached.Or(0) + m.Compulsory.Or(0) + m.Evicted.Or(0) + m.Elsewhere.Or(0) + m.Stale.Or(0); math.Abs(sum-1) > 1e-9 || m.Stale.Or(0) != 0.1 {
		t.Errorf("misses are %+v", m)
	}
	for _, v := range k.Curves {
		if len(v.Seconds) != 201 || v.Seconds[0] > v.Seconds[200] {
			t.Errorf("curve of %s has %d points", v.Figure, len(v.Seconds))
		}
	}
	if got := k.Curves[0].Seconds[200]; math.Abs(got-k.Runs[0].Figures.TTFT.Max.Or(0)) > 1e-6 {
		t.Errorf("the curve ends at %v, the maximum is %v", got, k.Runs[0].Figures.TTFT.Max)
	}
	if len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], "30 effective sessions") || !strings.Contains(c.Warnings[1], "one seed") {
		t.Errorf("warnings are %q", c.Warnings)
	}
}

// TestUnknownMisses are those of a run that does not know why.
func TestUnknownMisses(t *testing.T) {
	a, err := NewAnalysis(Plan{SLO: slo, Contenders: []string{"a"}, Seeds: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	run := made(1, 50, 0, 0)
	for i := range run.Requests {
		run.Requests[i].Misses = measure.Misses{}
	}
	if err := a.Add(Cell{}, sessions(50), run); err != nil {
		t.Fatal(err)
	}
	c, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Contenders[0].Misses; m.Cached.Or(0) == 0 || m.Compulsory.String() != "unknown" {
		t.Errorf("misses are %+v", m)
	}
}

func TestWrongPlans(t *testing.T) {
	for _, p := range []Plan{{}, {Contenders: []string{"a"}}, {Contenders: []string{"a"}, Seeds: []uint64{1}, Baseline: 1}} {
		if _, err := NewAnalysis(p); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	a, err := NewAnalysis(Plan{Contenders: []string{"a"}, Seeds: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Comparison(); err == nil || !strings.Contains(err.Error(), "a run of a is missing") {
		t.Errorf("got %v", err)
	}
	if err := a.Add(Cell{}, sessions(4), made(1, 5, 0, 0)); err == nil {
		t.Error("a run of another size is accepted")
	}
}

// TestBounds measures the way from the baseline.
func TestBounds(t *testing.T) {
	hits := func(v float64) map[string]report.Estimate {
		return map[string]report.Estimate{"kv_hit": {Mean: engine.Known(v)}}
	}
	c := &report.Comparison{Contenders: []report.Contender{{Figures: hits(.3)}, {Figures: hits(.2), Baseline: true}, {Figures: hits(.1)}, {}}}
	AddBounds(c, []sim.Bound{{Name: "infinite_cache", KVHit: .6}, {Name: "clairvoyant", KVHit: .2}})
	for i, want := range []string{"0.25", "0", "-0.25", "unknown"} {
		if v, known := c.Bounds[0].Closed[i].Value(); known && math.Abs(v-[]float64{.25, 0, -.25, 9}[i]) > 1e-9 || known == (want == "unknown") {
			t.Errorf("contender %d closed %v of the gap, want %s", i, c.Bounds[0].Closed[i], want)
		}
		if c.Bounds[1].Closed[i].String() != "unknown" {
			t.Errorf("contender %d closed %v of no gap", i, c.Bounds[1].Closed[i])
		}
	}
}
