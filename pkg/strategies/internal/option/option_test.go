package option

import (
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

func known() []router.Option {
	return append(Guards(),
		router.Option{Name: "mode", Default: "fast", Values: []string{"fast", "safe"}},
		router.Option{Name: "ttl", Default: "300s"},
		router.Option{Name: "sample", Default: "2"})
}

func TestDefaults(t *testing.T) {
	s := Parse(known(), nil)
	if s.Word("mode") != "fast" || s.Duration("ttl", 0, time.Hour) != 5*time.Minute || s.Int("sample", 0, 9) != 2 {
		t.Error("the defaults are not read")
	}
	if g := s.Guard(); g != (router.Guard{Of: router.InFlight, Factor: 1.25, Slack: 16}) {
		t.Errorf("guard = %+v", g)
	}
	if s.Given("mode") {
		t.Error("mode was not given")
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}

func TestGiven(t *testing.T) {
	s := Parse(known(), router.Options{"mode": "safe", "factor": "0", "ttl": "1m"})
	if s.Word("mode") != "safe" || s.Duration("ttl", 0, time.Hour) != time.Minute || s.Guard().Factor != 0 {
		t.Error("the given options are not read")
	}
	if !s.Given("mode") {
		t.Error("mode was given")
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, value, want string
	}{
		{"mode", "brave", `option "mode": "brave" is not one of fast, safe`},
		{"mod", "fast", `unknown option "mod": known are factor, mode, sample, slack, ttl`},
		{"ttl", "soon", `option "ttl": "soon" is not a duration between 0s and 1h0m0s, such as 300s`},
		{"ttl", "2h", `option "ttl": "2h" is not a duration between 0s and 1h0m0s, such as 300s`},
		{"sample", "2.5", `option "sample": "2.5" is not a whole number between 0 and 9`},
		{"slack", "NaN", `option "slack": "NaN" is not a number between 0 and 1e+06`},
		{"slack", "-1", `option "slack": "-1" is not a number between 0 and 1e+06`},
		{"factor", "0.5", `option "factor": 0.5 is below the mean load; give 0 for no guard, or 1 or more`},
	}
	for _, test := range tests {
		s := Parse(known(), router.Options{test.name: test.value})
		s.Word("mode")
		s.Duration("ttl", 0, time.Hour)
		s.Int("sample", 0, 9)
		s.Guard()
		if err := s.Err(); err == nil || err.Error() != test.want {
			t.Errorf("%s=%s: error %v, want %s", test.name, test.value, err, test.want)
		}
	}
}

func TestUndeclared(t *testing.T) {
	s := Parse(nil, router.Options{"x": "1"})
	s.Word("y")
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "no options") || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("error %v", err)
	}
}
