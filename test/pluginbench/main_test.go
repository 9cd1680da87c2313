package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The test binary is also the executable of the plugins.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && serve(os.Args[1]) {
		return
	}
	os.Exit(m.Run())
}

// A short run goes through all measurements; whether limits are kept is for long
// ones on a quiet machine.
func TestRun(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-span", "50ms", "-rounds", "1", "-rate", "200", "-keys", "10000"}, &out)
	if err != nil && !errors.Is(err, errLimit) {
		t.Fatal(err)
	}
	for _, row := range []string{
		"1 caller    in this process", "64 callers  unary", "200/s open  stream",
		"whole", "one key in 100 changed", "CPU at 64 callers, of unary's: ", "a whole plan, in ms ",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("%q is missing in\n%s", row, out.String())
		}
	}
}

func TestVerdicts(t *testing.T) {
	var out strings.Builder
	if err := verdicts(&out, verdict{"a", 1, 1}, verdict{"b", 0.5, 1}); err != nil {
		t.Error(err)
	}
	if err := verdicts(&out, verdict{"a", 1, 1}, verdict{"c", 2, 1}); !errors.Is(err, errLimit) || !strings.Contains(err.Error(), "c is 2") {
		t.Error(err)
	}
	got := medians([]figures{{p50: 3, p99: 1, rate: 5, cpu: 9, inTime: 0.1}, {p50: 1, p99: 3, rate: 7, cpu: 8, inTime: 0.3}, {p50: 2, p99: 2, rate: 6, cpu: 7, inTime: 0.2}})
	if want := (figures{p50: 2, p99: 2, rate: 6, cpu: 8, inTime: 0.2}); got != want {
		t.Errorf("medians %+v, want %+v", got, want)
	}
	if got := short(12345 * time.Microsecond); got != 12350*time.Microsecond {
		t.Error(got)
	}
}
