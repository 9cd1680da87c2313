// The asker plugin serves the strategy "asker".
package main

import (
	"gatewayd/cmd/benchlab/testdata/asker"
	"gatewayd/pkg/plugin"
)

func main() { plugin.Serve(asker.Definition()) }
