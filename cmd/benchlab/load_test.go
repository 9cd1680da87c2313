package main

import (
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

func profile(t *testing.T) engine.Profile {
	t.Helper()
	p, err := engine.ProfileByName(defaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// comparison reads a result.
func comparison(t *testing.T, text string) *report.Comparison {
	t.Helper()
	c, _, err := report.Read(strings.NewReader(text))
	if err != nil || c == nil {
		t.Fatalf("%v, %v in\n%.2000s", c, err, text)
	}
	return c
}

// TestDefaultLoad holds that the default rate scale loads the fleet as it says.
func TestDefaultLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it simulates the whole default trace")
	}
	code, stdout, stderr := bench(t.Context(), "compare", "--seeds", "1", "--strategy", "least-busy", "--json", "-")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	k := comparison(t, stdout).Contenders[0]
	if got := k.Figures["prefill_util"].Mean.Or(-1); got < 0.6 || got > 0.7 {
		t.Errorf("prefill utilisation of least-busy is %.3f, want 0.60 to 0.70", got)
	}
	if f := k.Runs[0].Figures; f.Requests != 7851 || f.Completed != 7851 {
		t.Errorf("%d of %d requests completed, want 7851", f.Completed, f.Requests)
	}
}
