// Package strategies is the one table of the shipped routing strategies.
package strategies

import (
	"fmt"
	"strings"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/cacheroute"
	"gatewayd/pkg/strategies/chwbl"
	"gatewayd/pkg/strategies/dualmap"
	"gatewayd/pkg/strategies/dynamo"
	"gatewayd/pkg/strategies/energy"
	"gatewayd/pkg/strategies/leastload"
	"gatewayd/pkg/strategies/lmetric"
	"gatewayd/pkg/strategies/preble"
	"gatewayd/pkg/strategies/prefix"
	"gatewayd/pkg/strategies/roundrobin"
	"gatewayd/pkg/strategies/sticky"
	"gatewayd/pkg/strategies/weighted"
)

// Catalog returns the shipped strategies, ordered by name.
func Catalog() []router.Definition {
	return []router.Definition{
		cacheroute.Definition(),
		energy.Carbon(),
		chwbl.Definition(),
		dualmap.Definition(),
		dynamo.Definition(),
		energy.Joule(),
		leastload.Latency(),
		leastload.LeastBusy(),
		lmetric.Definition(),
		leastload.Choices(),
		preble.Definition(),
		prefix.Definition(),
		roundrobin.Definition(),
		sticky.Definition(),
		weighted.Definition(),
	}
}

// Find returns the strategy of that name; the error lists all names.
func Find(name string) (router.Definition, error) {
	var names []string
	for _, d := range Catalog() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return router.Definition{}, fmt.Errorf("no strategy is called %q: there are %s", name, strings.Join(names, ", "))
}
