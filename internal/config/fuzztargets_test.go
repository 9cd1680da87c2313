package config

import "testing"

// FuzzTargets makes sure that no file of workers panics, and that what is taken
// would be taken under workers too.
func FuzzTargets(f *testing.F) {
	f.Add(`[{"targets": ["a:1","[::1]:2"], "labels": {"__scheme__": "https", "gatewayd_ranks": "0-3"}}]`)
	f.Add("- targets: [a:1]\n  labels: {gatewayd_drain: 'x', job: llm}")
	f.Add("&a [*a]")
	f.Add("!0 000")
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		found, err := Source{File: "f"}.targets([]byte(text))
		if err != nil || c.Fits(found) != nil || len(found) == 0 {
			return
		}
		if c.Workers = found; c.Validate() != nil {
			t.Fatal(found, c.Validate())
		}
	})
}
