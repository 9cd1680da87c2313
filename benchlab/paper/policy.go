package paper

import (
	"fmt"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/sim"
	"gatewayd/pkg/router"
)

// headroom is q_cap as a multiple of the mean load of a worker, which is not
// published. It is that of bounded loads, above the hottest key of the 128 without
// whales, so that Eq. 1 gives one copy, as published.
const headroom = 1.25

// policy is one row of a table.
type policy struct {
	name  string // as in the paper
	chain string // of the catalog, as benchlab takes it; empty: copies at random places
}

// The published policies.
var (
	flat       = policy{"Flat-LB", "p2c"}
	sticky     = policy{"Sticky", "chwbl:factor=0"}
	bounded    = policy{"CHWBL", "chwbl:factor=1.25:slack=0"}
	dualmap    = policy{"DualMap-style", "dualmap"}
	preble     = policy{"Preble-style", "preble"}
	cacheroute = policy{"CacheRoute", fmt.Sprintf("cacheroute:mode=paper:rest=p2c:share=%g", headroom)}

	affinity    = policy{"+ affinity", sticky.chain}
	replication = policy{"+ replication (random)", ""}
	balanced    = policy{"+ LPT (full)", cacheroute.chain}
)

func six() []policy { return []policy{flat, sticky, bounded, dualmap, preble, cacheroute} }

// known reports whether the catalog has the strategies of a policy.
func (p policy) known() bool { return p.chain == "" || chain.Known(p.chain) }

// open makes the instances of a policy. Those that plan are told the rates of all
// keys, as the paper's planner is by its telemetry.
func (p policy) open(keys []workload.Key, rate float64, seed uint64) ([]sim.Link, error) {
	told := telemetry(keys, rate)
	if p.chain == "" {
		return []sim.Link{{Name: "random-copies", Instance: copies{told, headroom}}}, nil
	}
	links, err := chain.Open(p.chain, seed)
	for i, l := range links {
		if planner, ok := l.Instance.(router.Planner); ok && l.Instance.Info().Rates {
			links[i].Instance = informed{l.Instance, planner, told}
		}
	}
	return links, err
}
