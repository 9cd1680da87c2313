package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const output = `goos: linux
BenchmarkPlan/paper/keys=128824/workers=30         	      30	  9000000 ns/op	   12.50 B/key	   8000000 core-ns/op	       3 allocs/op
BenchmarkPlan/paper/keys=128824/workers=30         	      30	  9000000 ns/op	   12.50 B/key	   7000000 core-ns/op	       3 allocs/op
BenchmarkPlan/paper/keys=128824/workers=30         	      30	  9000000 ns/op	   12.50 B/key	  50000000 core-ns/op	       3 allocs/op
PASS
`

// TestMedians reads what go test prints and judges the middle of three rounds.
func TestMedians(t *testing.T) {
	const name = "Plan/paper/keys=128824/workers=30"
	all := samples{}
	if err := all.read(strings.NewReader(output)); err != nil {
		t.Fatal(err)
	}
	if took, ok := all.median(name, onCore); !ok || took != 8_000_000 {
		t.Errorf("median %v %v, want 8000000", took, ok)
	}
	kept := line{"plan", name, "", 8 * time.Millisecond, 12.5, true}
	for _, c := range []struct {
		change func(*line)
		want   string
	}{
		{func(*line) {}, ""},
		{func(l *line) { l.limit-- }, "plan took 8ms, limit 7.999999ms"},
		{func(l *line) { l.allocates = false }, "plan made 3 allocations, limit 0"},
		{func(l *line) { l.bytes = 12 }, "plan takes 12.5 B for each key, limit 12"},
		{func(l *line) { l.name = "Plan/none" }, "plan: benchmark Plan/none was not run; is it still there?"},
	} {
		l := kept
		c.change(&l)
		got := ""
		if err := errors.Join(all.over([]line{l})...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	var out strings.Builder
	if err := all.print(&out, []line{kept}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "plan     8ms    8ms") || !strings.Contains(out.String(), "12.5") {
		t.Errorf("the report does not say what the plan took:\n%s", out.String())
	}
}

// TestReadRejects holds that output that is cut off is an error.
func TestReadRejects(t *testing.T) {
	for _, text := range []string{"BenchmarkPlan 30 9000 ns/op 12", "BenchmarkPlan 30 x ns/op"} {
		if err := (samples{}).read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// TestReferences holds that the loops do their work.
func TestReferences(t *testing.T) {
	all := samples{}
	for _, r := range references() {
		if err := r.sample(all); err != nil {
			t.Fatal(err)
		}
		if took, ok := all.median(r.name, onCore); !ok || took < 0 {
			t.Errorf("%s: %v ns a step", r.name, took)
		}
	}
}
