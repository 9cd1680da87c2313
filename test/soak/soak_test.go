package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// short are the lines in a few seconds. Their figures mean nothing.
var short = map[string]check{
	"H01": delays{streams: 3, events: 3, gap: 20 * time.Millisecond},
	"H10": idle{every: 120 * time.Millisecond, span: 2 * time.Second, closes: []time.Duration{60 * time.Millisecond, 120 * time.Millisecond}},
	"H11": reuse{rate: 100, busy: 10, span: 3 * time.Second, streams: 50},
	"H23": silence{token: 50 * time.Millisecond, slow: 500 * time.Millisecond, span: 2 * time.Second, head: 5 * time.Second, first: 5 * time.Second, gap: 3 * time.Second},
	"H26": burst{room: 2, queue: 4, requests: 50, parallel: 4, waves: 2},
	"H58": outage{rate: 20, span: 2 * time.Second},
}

// TestLines holds every line but for its figures.
func TestLines(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it builds the gateway and runs it for some seconds")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(bin, "gatewayd"), "gatewayd/cmd/gatewayd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build has it, so that little is left to do
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := newLab(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	for _, line := range lines {
		t.Run(line.name, func(t *testing.T) {
			t.Parallel()
			r, err := short[line.name].run(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range r.broken {
				t.Error(b)
			}
			if len(r.measured) == 0 {
				t.Error("nothing was measured")
			}
		})
	}
}

type canned struct {
	r   result
	err error
}

func (c *canned) run(context.Context, *lab) (*result, error) { return &c.r, c.err }

func TestReport(t *testing.T) {
	good, late, wrong := &canned{}, &canned{}, &canned{err: context.Canceled}
	good.r.measure("%d events", 3)
	late.r.within("p99", 3*time.Millisecond, time.Millisecond)
	late.r.within("p50", time.Millisecond, time.Millisecond)
	late.r.breaks("lost")
	chosen := []line{{"A", "is good", false, good}, {"B", "is late", true, late}, {"C", "did not run", false, wrong}}
	var out strings.Builder
	err := report(&out, chosen, (&lab{}).runAll(t.Context(), chosen, io.Discard))
	const want = `line  behaviour    took  result  measured
A     is good      0 s   holds   3 events
B     is late      0 s   FAILS   
C     did not run  0 s   failed  
`
	if out.String() != want {
		t.Errorf("%s\nwant:\n%s", out.String(), want)
	}
	if err == nil || err.Error() != "B: lost\nB: p99: 3 ms, limit 1 ms\nC: context canceled" {
		t.Errorf("error: %v", err)
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(nil); err != nil || len(all) != len(lines) {
		t.Errorf("%d lines, %v", len(all), err)
	}
	if some, err := choose([]string{"H26", "H01"}); err != nil || len(some) != 2 || some[0].name != "H26" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose([]string{"H99"}); err == nil || !strings.Contains(err.Error(), "H99") {
		t.Errorf("an unknown line: %v", err)
	}
}

func TestQuantile(t *testing.T) {
	var none times
	some := times{all: []time.Duration{3, 1, 2, 4}}
	for _, c := range []struct {
		of   *times
		q    float64
		want time.Duration
	}{{&none, 0.5, 0}, {&some, 0, 1}, {&some, 0.5, 3}, {&some, 0.99, 4}, {&some, 1, 4}} {
		if got := c.of.quantile(c.q); got != c.want {
			t.Errorf("quantile %v of %v: %v, want %v", c.q, c.of.all, got, c.want)
		}
	}
}
