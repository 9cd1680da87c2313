package experiment

import (
	"errors"
	"math"
	"testing"

	"gatewayd/benchlab/sim/measure"
)

func TestSearch(t *testing.T) {
	steps := Steps(1, 16, 5) // 1 2 4 8 16
	if steps[0] != 1 || steps[4] != 16 || math.Abs(steps[2]-4) > 1e-9 {
		t.Fatalf("steps are %v", steps)
	}
	for _, x := range []struct {
		capacity             float64
		holdsLow, holdsHigh  float64
		failsLow, failsHigh  float64
		probesLow, probesTop int
	}{
		{0.5, 0, 0, 1, 1, 5, 5},                // not even the first
		{100, 16, 16, 0, 0, 5, 5},              // even the last
		{5, 4.9, 5, 5, 5.1, 9, 12},             // between two steps
		{4, 4 - 1e-9, 4 + 1e-9, 4, 4.1, 9, 12}, // a step itself
	} {
		probes := 0
		l := Ladder{Steps: steps}
		holds, fails, err := l.Search(func(load float64, refined bool) (bool, error) {
			if probes++; refined != (probes > len(steps)) {
				t.Errorf("probe %d: refined is %v", probes, refined)
			}
			return load <= x.capacity+1e-9, nil
		})
		if err != nil || holds < x.holdsLow || holds > x.holdsHigh || fails < x.failsLow || fails > x.failsHigh || probes < x.probesLow || probes > x.probesTop {
			t.Errorf("capacity %v: holds %v, fails %v after %d probes, %v", x.capacity, holds, fails, probes, err)
		}
	}
}

// TestSearchBeyond lengthens the ladder at either end, as far as it may.
func TestSearchBeyond(t *testing.T) {
	for _, x := range []struct{ capacity, holds, fails float64 }{
		{0.3, 0.3, 0.3}, {100, 100, 100}, {0.01, 0, 1. / 8}, {1000, 16 * 8, 0},
	} {
		l := Ladder{Steps: Steps(1, 16, 5), Beyond: 3}
		holds, fails, err := l.Search(func(load float64, _ bool) (bool, error) { return load <= x.capacity, nil })
		if err != nil || math.Abs(holds-x.holds) > 0.02*x.holds || math.Abs(fails-x.fails) > 0.02*x.fails {
			t.Errorf("capacity %v: holds %v, fails %v, %v; want about %v and %v", x.capacity, holds, fails, err, x.holds, x.fails)
		}
	}
}

// TestSearchNotMonotone takes the first failure for the end.
func TestSearchNotMonotone(t *testing.T) {
	l := Ladder{Steps: Steps(1, 16, 5), Tolerance: 0.5}
	holds, fails, err := l.Search(func(load float64, _ bool) (bool, error) { return load < 3 || load > 7, nil })
	if err != nil || holds > 3 || fails < 3 || fails > 4+1e-9 {
		t.Errorf("holds %v, fails %v, %v", holds, fails, err)
	}
	wrong := errors.New("wrong")
	if _, _, err := l.Search(func(load float64, refined bool) (bool, error) {
		if refined {
			return false, wrong
		}
		return load < 3, nil
	}); !errors.Is(err, wrong) {
		t.Errorf("got %v, want the probe's error", err)
	}
}

// TestPoint keeps the SLO at 5 % of failures and not beyond.
func TestPoint(t *testing.T) {
	figures := func(run *measure.Run) measure.Figures { return measure.Of(run, slo) }
	for _, x := range []struct {
		run  *measure.Run
		want bool
	}{
		{made(1, 400, -100*ms, 0.03), false}, // its p99 is beyond the SLO
		{fast(400, 0.03), true},
		{fast(400, 0.2), false},
		{fast(50, 0), false}, // no p99
	} {
		if p := Point(2, 20, []measure.Figures{figures(x.run), figures(x.run)}, slo); p.Meets != x.want || p.At != 2 || p.Rate != 20 {
			t.Errorf("p99 %v, failed %v: meets %v, want %v", p.Figures["ttft.p99"], p.Figures["failed"], p.Meets, x.want)
		}
	}
}

// fast is a run whose first tokens take 10 ms.
func fast(requests int, failing float64) *measure.Run {
	run := made(1, requests, 0, failing)
	for i := range run.Requests {
		if q := &run.Requests[i]; q.Outcome == measure.Complete {
			q.First = q.Arrived + 10*ms
		}
	}
	return run
}
