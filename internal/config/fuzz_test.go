package config

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzLoad makes sure that no text panics, and that every refusal is either a
// list of problems or an oversized file.
func FuzzLoad(f *testing.F) {
	for _, file := range []string{"../../examples/minimal.yaml", "../../examples/full.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("workers:\n  - &a {url: \"http://a\"}\n  - <<: *a\n")
	f.Add("strategies: [a, {name: b, options: {c: 1}}]\n---\n? x\n: y\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(strings.NewReader(text), "gw.yaml")
		if err == nil {
			if err := c.Validate(); err != nil {
				t.Errorf("a loaded configuration is not valid: %v", err)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) == 0 || len(e.Problems) > maxProblems {
			t.Errorf("no list of problems: %v", err)
		}
	})
}
