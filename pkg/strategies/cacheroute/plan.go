package cacheroute

import (
	"cmp"
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

// least is the rate of all keys together, in requests per second, below which
// there is nothing to plan.
const least = 1e-9

// plan computes the plan of one interval.
func (c config) plan(in router.PlanInput) (router.Plan, error) {
	plan := router.Plan{Guard: c.guard, Rest: c.restOf(in, Zones{}), Bind: c.bindOf(in, Zones{})}
	known := 0.0
	for _, r := range in.Rates {
		known += r.Rate
	}
	if known < least {
		plan.Note = "no rates measured yet"
		return plan, nil
	}
	if in.Reuse.By > router.ByTTFT || !(in.Reuse.Share >= 0 && in.Reuse.Share <= 1) {
		in.Reuse = router.Reuse{} // not a measurement
	}
	if !(in.Depth >= 0 && in.Depth <= 1) {
		in.Depth = 0
	}
	in.HalfLife = max(0, in.HalfLife)
	total := max(known, in.TotalRate)
	qcap := c.qcap
	if qcap == 0 {
		qcap = max(c.share*total/float64(len(in.Fleet.Workers)), c.knee(in.Fleet.Workers))
	}
	if !c.paper {
		return c.live(in, qcap, total-known)
	}
	placed, note, err := c.fresh(in, qcap, total-known)
	if err != nil {
		return router.Plan{}, err
	}
	plan.Table, plan.Expected = placed.Table, placed.Load
	plan.Note = fmt.Sprintf("%d of %d keys planned, imbalance %.3f, qcap %.4g req/s, %s",
		len(placed.Table.Keys), len(in.Rates), placed.Imbalance(), qcap, note)
	return plan, nil
}

// knee is the rate, in requests per second, at which a worker has as many
// requests in flight as its batch serves at no loss (Little's law): below it a
// second copy of a key would only be a second cold cache. It is 0 while no
// latency is known.
func (c config) knee(workers []router.Worker) float64 {
	seconds, observed := planner.Latencies(workers)
	if observed == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	return min(c.slack*float64(len(seconds))/max(sum, 1e-6), planner.Most)
}

// fresh makes the plan of the paper.
func (c config) fresh(in router.PlanInput, qcap, unkeyed float64) (Placement, string, error) {
	slots, note := c.slots, "as given"
	if slots == 0 {
		kv, size := meanKV(in.Fleet.Workers), meanTokens(in)
		fill := cmp.Or(c.fill, unmeasured)
		slots, note = min(fill*kv/size, planner.Most), fmt.Sprintf("%v of the KV cache", fill)
		if kv == 0 || size == 0 {
			slots, note = float64(len(in.Rates)), "since the size of caches or prompts is unknown"
		}
	}
	placed, err := Paper{
		Workers: len(in.Fleet.Workers), QCap: qcap, Slots: slots, Charge: c.charge, Unkeyed: unkeyed,
	}.Place(in.Rates)
	return placed, fmt.Sprintf("%.4g slots per worker (%s)", slots, note), err
}

// sized are the rates and the budgets of the workers in tokens, or in slots if
// these are given, and what they stand on.
func (c config) sized(in router.PlanInput) (p Planned, rates []router.KeyRate, note string) {
	p.Tokens = meanTokens(in)
	rates, note = in.Rates, "no budget since the size of caches or prompts is unknown"
	for _, w := range in.Fleet.Workers {
		p.IDs = append(p.IDs, w.ID)
	}
	switch kv := meanKV(in.Fleet.Workers); {
	case c.slots > 0:
		note = fmt.Sprintf("%.4g slots per worker", c.slots)
		p.Tokens, rates = 1, sameSize(rates)
		for range p.IDs {
			p.Budget = append(p.Budget, c.slots)
		}
	case kv > 0 && p.Tokens > 0:
		var fill float64
		fill, p.Waste, note = c.room(in)
		for _, w := range in.Fleet.Workers {
			tokens := float64(w.KVTokens)
			if tokens == 0 {
				tokens = kv
			}
			p.Budget = append(p.Budget, min(fill*tokens, planner.Most))
		}
	}
	return p, rates, note
}

// unmeasured is the share of a cache that is planned for while it is not known what
// answers and ends of prompts leave of it.
const unmeasured = 0.7

// measured reports whether what caches hold besides follows from what was measured.
func (c config) measured(in router.PlanInput) bool {
	return c.fill == 0 && c.slots == 0 && in.Depth > 0
}

// room is what a cache is to hold in tokens of prompts, by each of its tokens, and
// what a request puts there besides. Of each prompt a part comes back, so a cache
// holds more prompts than their tokens say.
func (c config) room(in router.PlanInput) (fill, waste float64, note string) {
	if !c.measured(in) {
		fill = cmp.Or(c.fill, unmeasured)
		return fill, 0, fmt.Sprintf("%v of the KV cache", fill)
	}
	waste = min((in.OutputTokens+(1-in.Depth)*in.PromptTokens)/in.Depth, planner.Most)
	return 1 / in.Depth, waste, fmt.Sprintf("%.3f of a prompt comes back, %.0f tokens of a request do not", in.Depth, waste*in.Depth)
}

// meanKV is the mean KV cache of the workers that state one, in tokens.
func meanKV(workers []router.Worker) float64 {
	sum, known := 0.0, 0.0
	for _, w := range workers {
		if w.KVTokens > 0 {
			sum, known = sum+float64(w.KVTokens), known+1
		}
	}
	return sum / max(1, known)
}

// meanTokens is the mean prompt of the keys that state one, else of the pool.
func meanTokens(in router.PlanInput) float64 {
	sum, known := 0.0, 0.0
	for _, r := range in.Rates {
		if r.Tokens > 0 {
			sum, known = sum+r.Tokens, known+1
		}
	}
	if known == 0 {
		return in.PromptTokens
	}
	return sum / known
}

// sameSize returns rates of keys that take one slot each.
func sameSize(rates []router.KeyRate) []router.KeyRate {
	same := make([]router.KeyRate, len(rates))
	for i, r := range rates {
		same[i] = router.KeyRate{Key: r.Key, Rate: r.Rate, Tokens: 1}
	}
	return same
}
