// The sticky plugin serves the strategy "sticky".
package main

import (
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/strategies/sticky"
)

func main() { plugin.Serve(sticky.Definition()) }
