package paper

import (
	"cmp"
	"slices"
	"time"

	"gatewayd/benchlab/paper/workload"
	"gatewayd/pkg/router"
)

// once is an interval that no run outlasts: the published table stays fixed.
const once = 30 * 24 * time.Hour

// told is what telemetry says before a run: the rates of all keys, in order.
type told struct {
	rates []router.KeyRate
	total float64 // requests per second
}

func telemetry(keys []workload.Key, rate float64) told {
	t := told{total: rate}
	for _, k := range keys {
		t.rates = append(t.rates, router.KeyRate{Key: affinityKey(k.Session), Rate: rate * k.Share, Tokens: float64(prompt.Tokens())})
	}
	slices.SortFunc(t.rates, func(a, b router.KeyRate) int { return cmp.Compare(a.Key, b.Key) })
	return t
}

// affinityKey is the key that the simulator's gateways see for a session.
func affinityKey(session uint64) uint64 { return max(1, router.Mix(session)) }

// inform replaces measured rates by those that were told.
func (t told) inform(in router.PlanInput) router.PlanInput {
	in.Rates, in.TotalRate = slices.Clone(t.rates), t.total
	return in
}

// informed is a strategy that plans once, from rates that it is told.
type informed struct {
	router.Instance
	planner router.Planner
	told    told
}

// Info is the strategy's own but for the interval.
func (s informed) Info() router.Info {
	info := s.Instance.Info()
	info.Interval = once
	return info
}

// Plan has the strategy plan from the rates that it is told.
func (s informed) Plan(in router.PlanInput) (router.Plan, error) {
	return s.planner.Plan(s.told.inform(in))
}
