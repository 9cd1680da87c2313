package leastload

import (
	"testing"

	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", LeastBusy(), Choices(), Latency()) }
