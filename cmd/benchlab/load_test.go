package main

import (
	"encoding/json"
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

// TestDefaultLoad holds that the default rate scale loads the fleet as it says.
func TestDefaultLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates the whole default trace")
	}
	code, stdout, stderr := bench(t.Context(), "compare", "--strategy", "least-busy", "--json", "-")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var c report.Comparison
	if err := json.Unmarshal([]byte(stdout), &c); err != nil {
		t.Fatal(err)
	}
	f := c.Contenders[0].Figures
	if got := f.PrefillUtilisation.Or(-1); got < 0.6 || got > 0.7 {
		t.Errorf("prefill utilisation of least-busy is %.3f, want 0.60 to 0.70", got)
	}
	if f.Requests != 7851 || f.Completed != 7851 {
		t.Errorf("%d of %d requests completed, want 7851", f.Completed, f.Requests)
	}
}
