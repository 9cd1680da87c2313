package main

import "testing"

// TestDefaultTiming is recorded where requests have a common clock, and sessions
// where they have none.
func TestDefaultTiming(t *testing.T) {
	for _, x := range []struct{ file, given, want string }{
		{"small.jsonl", "", "recorded"},
		{"agents.jsonl", "", "sessions"},
		{"agents.jsonl", "recorded", "recorded"},
	} {
		args := []string{"compare", "--trace", "testdata/" + x.file, "--workers", "2", "--seeds", "1", "--strategy", "sticky", "--json", "-"}
		if x.given != "" {
			args = append(args, "--timing", x.given)
		}
		code, stdout, stderr := bench(t.Context(), args...)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		if got := comparison(t, stdout).Setup.Options.Timing; got != x.want {
			t.Errorf("%v: timing is %q, want %q", args, got, x.want)
		}
	}
}
