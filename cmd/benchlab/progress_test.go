package main

import (
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	b := &progress{all: 200}
	for _, x := range []struct {
		ended int64
		more  int
		want  string
	}{
		{0, 0, "[....................]   0 %  0 of 200 requests simulated, ? left"},
		{50, 0, "[#####...............]  25 %  50 of 200 requests simulated, 30s left"},
		{100, 200, "[#####...............]  25 %  100 of 400 requests simulated, 30s left"},
		{400, 0, "[####################] 100 %  400 of 400 requests simulated, 0s left"},
	} {
		b.ended.Store(x.ended)
		b.expect(x.more)
		if got := b.line(10 * time.Second); got != x.want {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
	one, two := b.part(), b.part()
	b.ended.Store(0)
	one(3)
	two(5)
	one(4)
	if got := b.ended.Load(); got != 9 {
		t.Errorf("%d ended, want 9", got)
	}
}

// TestStopwatch bounds the 99th percentile from above, within a tenth.
func TestStopwatch(t *testing.T) {
	var a, b stopwatch
	for i := 1; i <= 1000; i++ {
		w := &a
		if i%2 == 0 {
			w = &b
		}
		w.add(time.Duration(i) * time.Microsecond)
	}
	a.join(&b)
	got := a.time("sticky", "route")
	if got.Count != 1000 || got.Mean != 500.5e-6 || got.Max != 1e-3 || got.P99 < 990e-6 || got.P99 > 1e-3 {
		t.Errorf("got %+v", got)
	}
	var c stopwatch
	c.add(time.Hour)
	c.add(0)
	if got := c.p99(); got > time.Hour {
		t.Errorf("p99 is %v, beyond the maximum", got)
	}
	if got := new(stopwatch).time("sticky", "plan"); got.Mean != 0 || got.P99 != 0 {
		t.Errorf("no calls: %+v", got)
	}
}
