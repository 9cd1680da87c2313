package cacheroute

import (
	"testing"

	"gatewayd/pkg/strategies/energy"
	"gatewayd/pkg/strategies/internal/script"
	"gatewayd/pkg/strategies/sticky"
)

func TestChains(t *testing.T) {
	script.Run(t, "testdata/chain", Definition(), sticky.Definition(), energy.Joule())
}
