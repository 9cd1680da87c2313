package sticky

import (
	"testing"

	"gatewayd/pkg/strategies/internal/script"
	"gatewayd/pkg/strategies/leastload"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition(), leastload.LeastBusy()) }
