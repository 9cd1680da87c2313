package prefix

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// TestLikeTwin compares with the rule written down as it is read.
func TestLikeTwin(t *testing.T) {
	script.Twin(t, Definition(), router.Options{"abs": "3", "threshold": "0.4"}, func(s script.Seen) []string {
		low, high := 1e9, 0.0
		for _, w := range s.Workers {
			low, high = min(low, float64(w.Load.InFlight)), max(high, float64(w.Load.InFlight))
		}
		shortest := script.Least(s.Workers, func(i int) float64 { return float64(s.Workers[i].Load.InFlight) })
		if high-low > 3 && high > 1.1*low {
			return shortest
		}
		most := 0
		for _, cached := range s.Cached {
			most = max(most, cached)
		}
		if float64(most) > 0.4*float64(s.Request.PromptTokens) {
			return script.Least(s.Workers, func(i int) float64 {
				return float64(most-s.Cached[i])*1e6 + float64(s.Workers[i].Load.InFlight)
			})
		}
		return shortest
	})
}
