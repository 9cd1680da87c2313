// Command spread serves the strategy spread to gatewayd and benchlab.
package main

import "gatewayd/pkg/plugin"

func main() { plugin.Serve(Definition()) }
