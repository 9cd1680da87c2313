package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

const ms = time.Millisecond

var slo = measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * ms}

// made is a run of 120 requests on two workers, the first tokens of which take
// the given time; a share of the requests fails.
func made(first time.Duration, cached int32, joules engine.Figure, failing int) *measure.Run {
	r := &measure.Run{}
	for i := range 2 {
		r.Workers = append(r.Workers, measure.Worker{
			ID: fmt.Sprintf("worker-%d", i), Zone: "FR", PUE: engine.Known(1.58), GramsPerKWh: engine.Known(56),
			Prefill: time.Second,
			Stats:   engine.Stats{Busy: 2 * time.Second, Prefill: time.Second, GeneratedTokens: 500, Steps: 9, Joules: joules},
		})
	}
	for i := range 120 {
		at := time.Duration(i) * 100 * ms
		q := measure.Request{
			Arrived: at, First: at + first, Ended: at + first + 400*ms, Prompt: 1000, Cached: cached, Output: 10,
			Misses: measure.Misses{Compulsory: 1000 - cached}, Worker: int16(i % 2), Attempts: 1, Outcome: measure.Complete,
		}
		if i < failing {
			q.Outcome, q.Worker = measure.QueueFull, -1
		}
		r.Requests = append(r.Requests, q)
	}
	return r
}

// estimates are the figures of one run, and made-up intervals and differences.
func estimates(run *measure.Run, standing Standing) map[string]Estimate {
	f := measure.Of(run, slo)
	out := map[string]Estimate{}
	known := engine.Known
	for _, c := range Columns() {
		e := Estimate{Mean: c.Of(&f), Seeds: []engine.Figure{c.Of(&f), c.Of(&f)}}
		if v, ok := e.Mean.Value(); ok {
			e.Low, e.High = known(v*0.9), known(v*1.1)
			if standing != "" {
				e.Difference = &Difference{Mean: known(v / 2), Low: known(v * 0.4), High: known(v * 0.6), P: known(0.01), Detectable: known(v * 0.1), Verdict: standing}
			}
		} else if standing != "" {
			e.Difference = &Difference{Verdict: Unknown}
		}
		out[c.Name] = e
	}
	return out
}

// example is a comparison with a good, a poor and a failing contender; the last
// one has a name beyond ASCII and workers of unknown power.
func example() *Comparison {
	good, poor, failing := made(300*ms, 500, engine.Known(600), 0), made(900*ms, 100, engine.Known(800), 0), made(900*ms, 0, engine.Figure{}, 30)
	good.Strategies = []measure.Strategy{{Name: "cacheroute", Plans: 4, Failed: 1, FirstError: "no rates", Keys: 7, Churn: engine.Known(0.25), Compared: 12}}
	good.Decisions = []measure.Decision{
		{Strategy: "cacheroute", Reason: "table", Count: 20}, {Strategy: "two-choices", Reason: "rest", Count: 90},
		{Strategy: "two-choices", Reason: "rest", Fallback: "guard", Count: 10}}
	c := &Comparison{
		Command: []string{"benchlab", "compare"}, Version: "1.0", Figures: Columns(),
		Setup: Setup{
			Trace: Trace{
				Name: "chat.jsonl", SHA256: "ab12", Format: "mooncake", Rows: 12345, Span: 100, BlockTokens: 512,
				Scope: "global", Partial: "partial last block counted", MeanInput: 1000, MeanOutput: 10,
				Notes: []string{"first repair", "second repair, which takes so many words to tell that no line of a terminal would hold all of them, not even a wide one"},
			},
			Workers: 2, PUE: 1.58, TTFT: 2, TPOT: 0.05,
			Options: Options{RateScale: 1.5, Timing: "sessions", PlanDelay: 0.05, Gateways: 3, Sync: 1, Scrape: 2, Signal: "counters", Protect: "admitted", Faults: []string{"crash:w1@30s"}},
			Profile: engine.Profile{Name: "small", GPU: "H100", GPUs: 1, KVBlocks: 1000, BlockTokens: 16},
			Assumed: []string{"a cache"}, Zones: []Zone{{"FR", 56, "a survey"}, {"DE", 381, "a survey"}},
			Programs: []Program{{"./größer", "cd34"}},
		},
		Statistics: Statistics{Confidence: 0.95, Power: 0.8, Seeds: []uint64{1, 2}, Draws: 10, Sessions: 1234, EffectiveSessions: 1000, Method: "by hand", Correction: "none"},
		Bounds:     []Bound{{Name: "infinite_cache", Figure: "kv_hit", About: "forgets nothing", Value: 0.6, Closed: []engine.Figure{engine.Known(1), engine.Known(0), {}}}},
		Warnings:   []string{"this is made up"},
		Thresholds: []Verdict{
			{Text: "poor kv_hit>0.2", Contender: "poor", Figure: "kv_hit", Op: ">", Limit: 0.2, Value: engine.Known(0.1), Crossed: true},
			{Text: "energy<2", Contender: "./größer", Figure: "energy", Op: "<", Limit: 2, Crossed: true},
		},
		Timing: &Timing{Seconds: 1, Requests: 360, Processors: 2},
	}
	for i, run := range []*measure.Run{good, poor, failing} {
		standing := []Standing{Better, "", Worse}[i]
		r := NewRun(1, run, slo)
		c.Contenders = append(c.Contenders, Contender{
			Name: []string{"cacheroute", "poor", "./größer"}[i], Baseline: i == 1, Figures: estimates(run, standing), Runs: []Run{r, r},
			Misses: Misses{Cached: engine.Known(0.4), Compulsory: engine.Known(0.6), Evicted: engine.Known(0), Elsewhere: engine.Known(0)},
			Curves: []Curve{{"ttft", []float64{0.1, 0.2}}},
		})
	}
	effect := Effect{Contender: "cacheroute", Figures: map[string]Difference{}}
	for name, e := range c.Contenders[0].Figures {
		effect.Figures[name] = *e.Difference
	}
	c.Protection, c.Capacity = []Effect{effect}, sweep()
	return c
}

// sweep is a made-up sweep with what capacity there is.
func sweep() *Sweep {
	s := &Sweep{Seeds: []uint64{1}, Over: "load", Label: "rate scale", Warnings: []string{}}
	for i, name := range []string{"good", "poor"} {
		k := Series{Name: name, Capacity: &Capacity{At: engine.Known(2.5), Rate: engine.Known(25), Fails: engine.Known(2.6)}}
		if i == 1 {
			k.Capacity = &Capacity{Fails: engine.Known(1)}
		}
		for p, at := range []float64{1, 2, 2.5, 4} {
			f := measure.Of(made(time.Duration(float64(i+1)*at*200)*ms, 500, engine.Figure{}, 0), slo)
			point := Point{At: at, Rate: at * 10, Figures: map[string]engine.Figure{}, Meets: p < 3, Refined: p == 2}
			for _, c := range Columns() {
				point.Figures[c.Name] = c.Of(&f)
			}
			k.Points = append(k.Points, point)
		}
		s.Contenders = append(s.Contenders, k)
	}
	return s
}

func traffic() *trace.Trace {
	t := &trace.Trace{Name: "chat.jsonl"}
	for i := range 120 {
		t.Requests = append(t.Requests, trace.Request{Line: i + 1, ID: fmt.Sprintf("r%d", i), Session: uint64(i/2 + 1)})
	}
	return t
}

// TestTexts runs testdata/*.txt: each command prints a fixed example, or the
// beginning of it.
func TestTexts(t *testing.T) {
	for _, file := range []string{"comparison", "one", "sweep", "json", "csv", "requests"} {
		datadriven.RunTest(t, "testdata/"+file+".txt", func(t *testing.T, d *datadriven.TestData) string {
			var b bytes.Buffer
			var err error
			lines := 1000
			if d.HasArg("lines") {
				d.ScanArgs(t, "lines", &lines)
			}
			c := example()
			switch d.Cmd {
			case "comparison":
				err = c.WriteText(&b)
			case "one":
				c.Contenders, c.Bounds, c.Protection, c.Capacity = c.Contenders[1:2], nil, nil, nil
				err = c.WriteText(&b)
			case "sweep":
				s := sweep()
				s.Setup = &c.Setup
				err = s.WriteText(&b)
			case "json":
				c.Contenders = c.Contenders[:1]
				err = c.WriteJSON(&b)
			case "csv":
				err = c.WriteCSV(&b)
			case "sweep-csv":
				err = sweep().WriteCSV(&b)
			case "requests":
				err = WriteRequests(&b, "poor", 7, traffic(), made(900*ms, 0, engine.Figure{}, 1))
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			if err != nil {
				t.Fatal(err)
			}
			all := strings.SplitAfter(b.String(), "\n")
			return strings.Join(all[:min(lines, len(all))], "")
		})
	}
}

// TestWidth keeps a usual comparison within what terminals show.
func TestWidth(t *testing.T) {
	var b bytes.Buffer
	if err := example().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(b.String()) {
		if n := len([]rune(l)) - 1; n > wide+10 {
			t.Errorf("%d characters: %s", n, l)
		}
	}
}

// TestJSON reads back what it wrote, and nothing else.
func TestJSON(t *testing.T) {
	var first, second bytes.Buffer
	if err := example().WriteJSON(&first); err != nil {
		t.Fatal(err)
	}
	text := first.String()
	back, none, err := Read(&first)
	if err != nil || none != nil {
		t.Fatal(none, err)
	}
	if err := back.WriteJSON(&second); err != nil || second.String() != text {
		t.Errorf("what was read back differs (%v)", err)
	}
	var b bytes.Buffer
	if err := sweep().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if c, s, err := Read(&b); err != nil || c != nil || len(s.Contenders) != 2 {
		t.Errorf("a sweep is read as %v, %v, %v", c, s, err)
	}
	for text, want := range map[string]string{
		"":                                      "not a result of benchlab",
		"[]":                                    "not a result of benchlab",
		`{"format":"x/9"}`:                      `this has "x/9"; make it again`,
		`{"format":"` + Format + `","setup":3}`: "result " + Format,
		`{"format":"` + SweepFormat + `","contenders":3}`: "result " + SweepFormat,
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestReproducible leaves out what differs from run to run, and nothing else.
func TestReproducible(t *testing.T) {
	c := example()
	c.Capacity.Timing = c.Timing
	var b bytes.Buffer
	if err := c.Reproducible().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "timing\": {") || c.Timing == nil || c.Capacity.Timing == nil {
		t.Error("timing is still there, or is gone from the original")
	}
	var all map[string]any
	if err := json.Unmarshal(b.Bytes(), &all); err != nil || all["capacity"] == nil || all["setup"] == nil {
		t.Errorf("%v, %v", all, err)
	}
}

// TestColumns holds that names are unique and that all that tables show exist.
func TestColumns(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Columns() {
		if seen[c.Name] || c.Name == "" || c.Label == "" || c.About == "" || c.Scale == 0 || c.Better == "" {
			t.Errorf("column %+v", c)
		}
		seen[c.Name] = true
	}
	for _, n := range append(mainColumns(), otherColumns()...) {
		if !seen[n] {
			t.Errorf("there is no figure %s", n)
		}
	}
}

// TestDecimals shows three digits of small figures.
func TestDecimals(t *testing.T) {
	c := Column{Name: "x", Scale: 100, Decimals: 1}
	for v, want := range map[float64]string{0: "0.0", 0.5: "50.0", 0.01: "1.00", 0.0001: "0.0100", 1e-12: "0.000000", -0.2: "-20.0", -1e-12: "0.000000"} {
		d := c
		d.Decimals = c.fitting([]Contender{{Figures: map[string]Estimate{"x": {Mean: engine.Known(v)}}}})
		if got := d.number(engine.Known(v)); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

type broken struct{}

var errBroken = errors.New("disk full")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenWriter(t *testing.T) {
	for _, err := range []error{example().WriteText(broken{}), example().WriteJSON(broken{}), example().WriteCSV(broken{}),
		sweep().WriteText(broken{}), sweep().WriteJSON(broken{}), sweep().WriteCSV(broken{}),
		WriteRequests(broken{}, "a", 1, traffic(), made(ms, 0, engine.Figure{}, 0))} {
		if !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
	}
	if err := WriteRequests(new(bytes.Buffer), "a", 1, &trace.Trace{}, made(ms, 0, engine.Figure{}, 0)); err == nil {
		t.Error("requests of other traffic are written")
	}
}
