package sim

import (
	"time"

	"gatewayd/pkg/router"
)

// Oracle is a chain that no gateway could run: for every request it looks into
// the workers' caches and queues as they are, and takes the worker that has the
// fewest prompt tokens to compute until the request's first one. It is a
// reference for what perfect knowledge of the present is worth, not a bound: it is
// greedy and does not know the future. The chain serves one run, and its instance
// must reach the simulation as it is, in no wrapper.
func Oracle() []Link { return []Link{{"oracle", &oracle{}}} }

// oracle is given its lab when the run begins.
type oracle struct{ lab *lab }

func (o *oracle) Info() router.Info { return router.Info{Name: "oracle", Routes: true, Blocks: true} }

// Route takes the worker with the least to compute, of equals the one with the
// fewest requests, of these the next in turn.
func (o *oracle) Route(in router.Input) router.Decision {
	best, least, fewest := -1, 0, 0
	n := len(in.Workers)
	for k := range n {
		i := int((uint64(k) + in.Seed) % uint64(n))
		who := o.lab.number[in.Workers[i].ID]
		m := &o.lab.machines[who]
		if !m.up() {
			continue
		}
		cached := m.engine.Cached(time.Duration(in.Now), in.Request.Blocks, in.Request.BlockTokens)
		work := m.pending + in.Request.PromptTokens - int(m.reusable(cached, in.Request.PromptTokens))
		if best < 0 || work < least || work == least && m.load < fewest {
			best, least, fewest = i, work, m.load
		}
	}
	if best < 0 {
		return router.Decision{}
	}
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: best}}, Reason: "oracle"}
}
