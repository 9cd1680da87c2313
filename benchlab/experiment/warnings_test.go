package experiment

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
)

// TestWarnings names failures and overload once each, with all contenders.
func TestWarnings(t *testing.T) {
	a, c := analysed(t, 600, 2, 0.1, 0, 60*time.Second, 70*time.Second)
	want := []string{
		"2 seeds are few to see what they draw; give --seeds 5",
		"many requests failed, and times are of completed ones (see TTFT p99 all): a 9.3 %, b 9.3 %, c 9.3 %",
		"overloaded, so that times grow with the length of the traffic: requests arrive in 30 s, and it takes b 90 s, c 100 s",
	}
	if !slices.Equal(c.Warnings, want) {
		t.Errorf("got %q\nwant %q", c.Warnings, want)
	}
	again, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if errors.Join(c.WriteJSON(&first), again.WriteJSON(&second)) != nil || first.String() != second.String() {
		t.Error("the same runs give another comparison")
	}
}

// TestOverloaded tells waiting from long answers.
func TestOverloaded(t *testing.T) {
	run := func(seconds, wait float64) []report.Run {
		return []report.Run{{Figures: measure.Figures{Seconds: seconds, TTFT: measure.Spread{Mean: engine.Known(wait)}}}}
	}
	for _, x := range []struct {
		seconds, wait, span float64
		want                bool
	}{
		{46, 0.5, 27, false}, // the last answers are long
		{46, 8, 27, true},    // requests wait a third of the traffic
		{30, 8, 27, false},   // it is soon over
		{46, 8, 0, false},    // all came at once
	} {
		if _, got := overloaded(run(x.seconds, x.wait), x.span); got != x.want {
			t.Errorf("%+v: got %v", x, got)
		}
	}
}

// TestOneSession has no intervals, since there is nothing to resample, and so no
// verdicts.
func TestOneSession(t *testing.T) {
	a, err := NewAnalysis(Plan{SLO: slo, Contenders: []string{"a", "b"}, Seeds: []uint64{1, 2, 3, 4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	one := slices.Repeat([]uint64{7}, 200)
	for s := range 5 {
		for c, more := range []time.Duration{0, 90 * ms} {
			if err := a.Add(Cell{c, s}, one, made(3, 200, more, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ttft.mean", "ttft.p50", "kv_hit"} {
		f := c.Contenders[1].Figures[name]
		if _, known := f.Low.Value(); known || f.Difference.Verdict != report.Unknown {
			t.Errorf("%s of one session is %+v, %+v", name, f, f.Difference)
		}
	}
	if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "one session:") {
		t.Errorf("warnings are %q", c.Warnings)
	}
}

// TestSeries keeps the load over time of the first seed alone.
func TestSeries(t *testing.T) {
	a, err := NewAnalysis(Plan{SLO: slo, Contenders: []string{"a"}, Seeds: []uint64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for s := range 2 {
		run := made(1, 50, 0, 0)
		run.Series = measure.Series{Step: time.Second, Load: [][]float32{{1}, {2}}}
		if err := a.Add(Cell{0, s}, sessions(50), run); err != nil {
			t.Fatal(err)
		}
	}
	c, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Contenders[0].Runs; len(r[0].Series.Load) != 2 || r[1].Series.Load != nil {
		t.Errorf("series are %+v and %+v", r[0].Series, r[1].Series)
	}
	var text bytes.Buffer
	if err := c.WriteJSON(&text); err != nil || strings.Count(text.String(), `"series"`) != 1 {
		t.Errorf("%d series in JSON, %v", strings.Count(text.String(), `"series"`), err)
	}
}

// TestMissingFaults tells of faults that were due after the end of a run.
func TestMissingFaults(t *testing.T) {
	a, err := NewAnalysis(Plan{SLO: slo, Contenders: []string{"a"}, Seeds: []uint64{1, 2, 3, 4, 5},
		Setup: report.Setup{Options: report.Options{Faults: []string{"flush:w1@1s", "crash:w0@2s+1s"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for s := range 5 {
		run := made(uint64(s), 150, 0, 0)
		run.Faults = []measure.Fault{{Text: "crash:w0@2s+1s"}, {Text: "crash:w0@2s+1s", Over: true}, {Text: "flush:w1@1s"}}[:3-s/4]
		if err := a.Add(Cell{0, s}, sessions(150), run); err != nil {
			t.Fatal(err)
		}
	}
	c, err := a.Comparison()
	if err != nil {
		t.Fatal(err)
	}
	if want := "faults that did not happen, since a run had ended before: 1 of 2"; !slices.Contains(c.Warnings, want) {
		t.Errorf("warnings are %q", c.Warnings)
	}
}
