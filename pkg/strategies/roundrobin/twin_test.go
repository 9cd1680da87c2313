package roundrobin

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

// TestLikeTwin counts requests, as eoc-distributed does.
func TestLikeTwin(t *testing.T) {
	for _, o := range []router.Options{nil, {"mode": "seed"}} {
		script.TwinWithMemory(t, Definition(), o, func() (script.Rule, func(script.Seen, string)) {
			counter := 0
			return func(s script.Seen) []string {
				counter++
				return []string{s.Workers[(counter-1)%len(s.Workers)].ID}
			}, func(script.Seen, string) {}
		})
	}
}
