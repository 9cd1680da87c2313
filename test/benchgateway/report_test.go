package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := "42 (a (b) c) S 7 42 42 0 -1 4194560 100 0 0 0 150 50 9 9 20 0 5 0 1000 99999 256 18446744073709551615 1\n"
	s, err := parseStat([]byte(line))
	want := stat{42, 7, 2 * time.Second}
	if err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	for _, wrong := range []string{"", "42 (x", "42 (x) S 7", strings.Replace(line, "150", "x", 1)} {
		if _, err := parseStat([]byte(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

func TestFamily(t *testing.T) {
	all := []stat{{4, 3, 8}, {3, 2, 4}, {2, 1, 2}, {5, 1, 100}}
	members, err := family(all, 2)
	var sum time.Duration
	for _, s := range members {
		sum += s.cpu
	}
	if err != nil || sum != 14 {
		t.Errorf("%v, %v; want a process, its child and its grandchild", members, err)
	}
	if _, err := family(all, 9); err == nil {
		t.Error("no error for a process that is not there")
	}
}

func TestParsePSS(t *testing.T) {
	n, err := parsePSS([]byte("00400000-7ffd [rollup]\nRss:  300 kB\nPss:   200 kB\nPss_Dirty:  1 kB\n"))
	if err != nil || n != 200<<10 {
		t.Errorf("%d, %v; want 200 KiB", n, err)
	}
	for _, wrong := range []string{"", "x\nPss:", "x\nPss: 1 MB", "x\nPss: x kB"} {
		if _, err := parsePSS([]byte(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

// TestOwn holds that the formats are those of this machine.
func TestOwn(t *testing.T) {
	if n, err := memoryOf(os.Getpid()); err != nil || n < 1<<20 {
		t.Errorf("%d, %v; want more than a megabyte", n, err)
	}
	if _, err := cpuOf(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	if got := quantile([]time.Duration{3, 1, 2, 4}, 0.5); got != 3 {
		t.Errorf("the median is %v, want the third of four", got)
	}
}

// TestReport holds that ratios are those of one repeat, and that what a proxy adds is
// over the worker alone.
func TestReport(t *testing.T) {
	all := make([]samples, 4)
	for i := range all {
		for m := range metrics {
			for repeat := range 3 {
				// The machine is slower each time, which no ratio may show.
				all[i].add(m, float64(i+1)*float64(repeat+1)*100)
			}
		}
	}
	want := map[string]float64{
		"CPU of a small request, to nginx":    2,
		"added p50 at half load, to nginx":    3,
		"first event after direct, ms (p50)":  0.6,
		"memory with 10,000 idle streams, MB": 800,
	}
	for _, b := range bounds(all) {
		if v, ok := want[b.what]; ok && v != b.value {
			t.Errorf("%s: %v, want %v", b.what, b.value, v)
		}
		delete(want, b.what)
	}
	if len(want) > 0 {
		t.Errorf("not reported: %v", want)
	}
	var out strings.Builder
	contenders := []*contender{{name: "direct"}, {name: "nginx"}, {name: "haproxy"}, {name: "gatewayd"}}
	if err := report(&out, contenders, all); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1+len(contenders)+1+1+6 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}
