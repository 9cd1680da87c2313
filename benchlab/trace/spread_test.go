package trace

import (
	"math"
	"reflect"
	"sync"
	"testing"
	"time"
)

// shipped reads the default trace once for all tests; no test may change it.
var shipped = sync.OnceValues(Default)

func mustDefault(t testing.TB) *Trace {
	t.Helper()
	tr, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// at is a trace of requests at these times, in ms.
func at(ms ...int) *Trace {
	tr := &Trace{Name: "t", BlockTokens: 512}
	for i, m := range ms {
		tr.Requests = append(tr.Requests, Request{At: time.Duration(m) * time.Millisecond, Line: i + 1})
	}
	return tr
}

func TestTick(t *testing.T) {
	for name, c := range map[string]struct {
		trace *Trace
		want  time.Duration
	}{
		"recorder's jitter":      {at(0, 0, 3000, 5999, 9000, 9000, 11999, 15001, 18000, 24000), 3 * time.Second},
		"seconds with holes":     {at(0, 1000, 1000, 5000, 6000, 47000, 48000, 60000, 61000, 62000), time.Second},
		"no shared timestamp":    {at(0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000), 0},
		"off the grid":           {at(0, 0, 3000, 6000, 9000, 10400, 13400, 16400, 19400), 0},
		"milliseconds":           {at(0, 0, 1, 2, 4, 5, 9, 10, 11, 13), 0},
		"too few to tell":        {at(0, 0, 3000, 3000, 6000), 0},
		"all at once":            {at(0, 0, 0, 0, 0, 0, 0, 0, 0), 0},
		"empty":                  {at(), 0},
		"the trace that we ship": {mustDefault(t), 3 * time.Second},
	} {
		if got := c.trace.Tick(); got != c.want {
			t.Errorf("%s: tick %v, want %v", name, got, c.want)
		}
	}
}

func TestSpreadKeepsOrderAndTick(t *testing.T) {
	raw := mustDefault(t)
	s := raw.Spread(7)
	next := map[time.Duration]time.Duration{} // tick's start -> next tick's start
	for i := 1; i < len(raw.Requests); i++ {
		if a, b := raw.Requests[i-1].At, raw.Requests[i].At; a != b {
			next[a] = b
		}
	}
	for i := range s.Requests {
		was, is := raw.Requests[i], s.Requests[i]
		end := was.At + 3*time.Second
		if n, ok := next[was.At]; ok {
			end = min(end, n)
		}
		if is.At < was.At || is.At >= end {
			t.Fatalf("row %d left its tick: recorded %v, now %v, tick ends %v", i, was.At, is.At, end)
		}
		is.At = was.At
		if !reflect.DeepEqual(is, was) {
			t.Fatalf("row %d changed: %+v, was %+v", i, is, was)
		}
	}
	checkSound(t, s)
	if got := s.Info().Arrivals.GapCV; math.Abs(got-1) > 0.15 {
		t.Errorf("gaps' coefficient of variation %.3f after spreading, want about 1 (it was 2.97)", got)
	}
	if n := len(raw.Notes); len(s.Notes) != n+1 || s.Notes[n] != "arrivals spread uniformly inside ticks of 3s, seed 7" {
		t.Errorf("notes %q", s.Notes)
	}
	if s.Spread(8) != s {
		t.Error("a spread trace was spread again")
	}
}

func TestSpreadIsAFunctionOfTheSeed(t *testing.T) {
	raw := mustDefault(t)
	a, b, c := raw.Spread(1), raw.Spread(1), raw.Spread(2)
	if !reflect.DeepEqual(a, b) {
		t.Error("equal seeds, different arrivals")
	}
	if reflect.DeepEqual(a.Requests, c.Requests) {
		t.Error("different seeds, equal arrivals")
	}
	fresh, err := Default()
	if err != nil || !reflect.DeepEqual(raw, fresh) {
		t.Errorf("Spread changed the trace it was given, or it is read differently each time (%v)", err)
	}
}

func TestSpreadLeavesOtherTracesAlone(t *testing.T) {
	tr := at(0, 17, 17, 423, 1100, 1733, 2991, 3100, 4555, 9001)
	if got := tr.Spread(1); got != tr {
		t.Errorf("a trace without ticks was changed: %v", got.Notes)
	}
}
