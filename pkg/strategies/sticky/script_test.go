package sticky

import (
	"testing"

	"gatewayd/pkg/strategies/energy"
	"gatewayd/pkg/strategies/internal/script"
	"gatewayd/pkg/strategies/leastload"
	"gatewayd/pkg/strategies/roundrobin"
)

// TestScripts runs the scripts of testdata; those in eoc are of the router of
// eoc-distributed.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata", Definition(), leastload.LeastBusy(), leastload.Latency(), energy.Joule(), energy.Carbon(), roundrobin.Definition())
}
