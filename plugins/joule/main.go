// The joule plugin serves the strategies "joule" and "carbon".
package main

import (
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/strategies/energy"
)

func main() { plugin.Serve(energy.Joule(), energy.Carbon()) }
