package calibrate

import (
	"math"
	"testing"
	"time"
)

func seconds(queued, first, last int) Served {
	return Served{time.Duration(queued) * time.Second, time.Duration(first) * time.Second, time.Duration(last) * time.Second}
}

// TestJudgeByHand checks signs, means, percentiles and what is left out.
func TestJudgeByHand(t *testing.T) {
	run := &Run{Requests: []Request{
		{ID: "skipped", Output: 2, Served: seconds(0, 1, 2)},
		{ID: "a", Output: 3, Served: seconds(10, 12, 16)}, // TTFT 2, TPOT 2, E2E 6
		{ID: "b", Output: 1, Served: seconds(10, 18, 18)}, // TTFT 8, no TPOT, E2E 8
	}}
	e, each, err := Judge(run, []Served{seconds(0, 100, 200), seconds(20, 21, 25), seconds(20, 30, 30)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"ttft.mean_pct", e.TTFT.MeanPct.Or(99), 10},   // 1 and 10 s for 2 and 8
		{"ttft.p50_pct", e.TTFT.P50Pct.Or(99), -50},    // 1 for 2
		{"ttft.p90_pct", e.TTFT.P90Pct.Or(99), 25},     // 10 for 8
		{"ttft.mape_pct", e.TTFT.MAPEPct.Or(99), 37.5}, // 50 and 25
		{"tpot.mean_pct", e.TPOT.MeanPct.Or(99), 0},
		{"e2e.mean_pct", e.E2E.MeanPct.Or(99), 100. / 14}, // 5 and 10 for 6 and 8
		{"a e2e", each[0].E2EPct.Or(99), -100. / 6},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if _, known := e.TTFT.P99Pct.Value(); known {
		t.Error("a p99 of two requests is given")
	}
	if _, known := each[1].TPOTPct.Value(); known || len(each) != 2 || each[1].ID != "b" {
		t.Errorf("per request: %+v", each)
	}
	for _, skip := range []int{-1, 3} {
		if _, _, err := Judge(run, make([]Served, 3), skip); err == nil {
			t.Errorf("skip %d is accepted", skip)
		}
	}
}
