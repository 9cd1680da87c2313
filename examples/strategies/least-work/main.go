// Command least-work serves the strategy least-work to gatewayd and benchlab.
package main

import "gatewayd/pkg/plugin"

func main() { plugin.Serve(Definition()) }
