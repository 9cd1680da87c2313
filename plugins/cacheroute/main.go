// The cacheroute plugin serves the strategy "cacheroute".
package main

import (
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/strategies/cacheroute"
)

func main() { plugin.Serve(cacheroute.Definition()) }
