package lmetric

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestLikeTwin(t *testing.T) {
	product := func(s script.Seen) []string {
		return script.Least(s.Workers, func(i int) float64 {
			return float64(max(1, s.Request.PromptTokens-s.Cached[i])) * float64(s.Workers[i].Load.InFlight+1)
		})
	}
	script.Twin(t, Definition(), nil, product)
	script.Twin(t, Definition(), router.Options{"ties": "first"}, func(s script.Seen) []string { return product(s)[:1] })
}
