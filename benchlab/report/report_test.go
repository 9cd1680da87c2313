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

// example is a comparison with a good, a poor and a failing contender; the last
// one has a name beyond ASCII and workers of unknown power.
func example() *Comparison {
	slo := measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * ms}
	worker := func(i int, joules engine.Figure) measure.Worker {
		return measure.Worker{
			ID: fmt.Sprintf("worker-%d", i), Zone: "FR", PUE: engine.Known(1.58), GramsPerKWh: engine.Known(56),
			Prefill: time.Second,
			Stats:   engine.Stats{Busy: 2 * time.Second, Prefill: time.Second, GeneratedTokens: 500, Steps: 9, Joules: joules},
		}
	}
	run := func(first time.Duration, cached int32, joules engine.Figure) *measure.Run {
		r := &measure.Run{Workers: []measure.Worker{worker(0, joules), worker(1, joules)}}
		for i := range 120 {
			at := time.Duration(i) * 100 * ms
			r.Requests = append(r.Requests, measure.Request{
				Arrived: at, First: at + first, Ended: at + first + 400*ms,
				Prompt: 1000, Cached: cached, Output: 10, Worker: int16(i % 2), Outcome: measure.Complete,
			})
		}
		return r
	}
	good, poor, failing := run(300*ms, 500, engine.Known(600)), run(900*ms, 100, engine.Known(800)), run(900*ms, 0, engine.Figure{})
	good.Strategies = []measure.Strategy{{Name: "cacheroute", Plans: 4, Failed: 1, FirstError: "no rates", Keys: 7, Churn: engine.Known(0.25), Compared: 12}}
	good.Decisions = []measure.Decision{
		{Strategy: "cacheroute", Reason: "table", Count: 20}, {Strategy: "two-choices", Reason: "rest", Count: 90},
		{Strategy: "two-choices", Reason: "rest", Fallback: "guard", Count: 10}}
	for i := range 30 {
		failing.Requests[i].Outcome, failing.Requests[i].Worker = measure.QueueFull, -1
	}
	return &Comparison{
		Setup: Setup{
			Trace: Trace{
				Name: "chat.jsonl", SHA256: "ab12", Format: "mooncake", Rows: 12345, Span: 100, BlockTokens: 512,
				Scope: "global", Partial: "partial last block counted", MeanInput: 1000, MeanOutput: 10, Notes: []string{"first repair", "second repair"},
			},
			Seed: 3, RateScale: 1.5, Workers: 2, PUE: 1.58, PlanDelay: 0.05, TTFT: 2, TPOT: 0.05,
			Profile: engine.Profile{Name: "small", GPU: "H100", GPUs: 1, KVBlocks: 1000, BlockTokens: 16},
			Zones:   []Zone{{"FR", 56, "a survey"}, {"DE", 381, "a survey"}},
		},
		Contenders: []Contender{
			NewContender("cacheroute", good, slo), NewContender("poor", poor, slo), NewContender("./größer", failing, slo),
		},
	}
}

// TestTexts runs testdata/*.txt: "comparison", "json" and "traceinfo" print a
// fixed example.
func TestTexts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b bytes.Buffer
			var err error
			info := NewTraceInfo(small(), "ab12")
			switch d.Cmd {
			case "comparison":
				err = example().WriteText(&b)
			case "json":
				c := example()
				c.Contenders = c.Contenders[:1]
				err = c.WriteJSON(&b)
			case "traceinfo":
				err = info.WriteText(&b)
			case "traceinfo-json":
				err = info.WriteJSON(&b)
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b.String()
		})
	})
}

func small() *trace.Trace {
	return &trace.Trace{
		Name: "small.jsonl", Format: "mooncake", BlockTokens: 512,
		Requests: []trace.Request{
			{Input: 1024, Output: 3, Blocks: []uint64{1, 2}, Session: 1},
			{At: 4 * time.Second, Input: 1500, Output: 5, Blocks: []uint64{1, 2, 3}, Session: 1},
		},
	}
}

// TestStars marks the best of what differs, and all of them.
func TestStars(t *testing.T) {
	c := &Comparison{Contenders: make([]Contender, 3)}
	higher := column{decimals: 1, scale: 1, better: 1, value: func(f *measure.Figures) engine.Figure { return f.KVHit }}
	lower := higher
	lower.better = -1
	for _, x := range []struct {
		values          []engine.Figure
		highest, lowest string
	}{
		{[]engine.Figure{engine.Known(1), engine.Known(2), engine.Known(3)}, "3.0", "1.0"},
		{[]engine.Figure{engine.Known(1.01), engine.Known(1.04), engine.Known(0.96)}, "", ""}, // alike as shown
		{[]engine.Figure{engine.Known(0), {}, engine.Known(2)}, "2.0", "0.0"},
		{make([]engine.Figure, 3), "", ""},
	} {
		for i, v := range x.values {
			c.Contenders[i].Figures.KVHit = v
		}
		if got := higher.best(c.Contenders); got != x.highest {
			t.Errorf("%v: the highest is %q, want %q", x.values, got, x.highest)
		}
		if got := lower.best(c.Contenders); got != x.lowest {
			t.Errorf("%v: the lowest is %q, want %q", x.values, got, x.lowest)
		}
	}
}

// TestJSON reads back what it wrote.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	c := example()
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Format string
		Comparison
	}
	d := json.NewDecoder(strings.NewReader(b.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.WriteJSON(&again); err != nil {
		t.Fatal(err)
	}
	if back.Format != Format || again.String() != b.String() {
		t.Errorf("format %q; what was read back differs", back.Format)
	}
}

type broken struct{}

var errBroken = errors.New("disk full")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenWriter(t *testing.T) {
	info := NewTraceInfo(small(), "")
	for _, err := range []error{example().WriteText(broken{}), example().WriteJSON(broken{}), info.WriteText(broken{}), info.WriteJSON(broken{})} {
		if !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
	}
}
