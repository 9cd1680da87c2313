package survey

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// watched is a planner whose plans are kept.
type watched struct {
	router.Instance
	plans []router.Plan
}

// Plan keeps what the planner answers.
func (w *watched) Plan(in router.PlanInput) (router.Plan, error) {
	plan, err := w.Instance.(router.Planner).Plan(in)
	w.plans = append(w.plans, plan)
	return plan, err
}

const (
	callers, beginnings = 12, 80     // callers, and the ways in which prompts begin
	promptTokens        = 2048       // of a beginning
	callBlock           = 512        // tokens
	callsPerSecond      = 20         // requests
	strangers           = 200 * 20   // requests without a key, at first
	known               = 1300 * 20  // requests with one
	each                = known / 20 // requests that are measured together
)

// calls are requests that nobody is known to send, and then those of some callers.
// A caller's prompts begin alike, or each begins like any other's.
func calls(alike bool) *trace.Trace {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &trace.Trace{Name: "calls", BlockTokens: callBlock}
	for i := range strangers + known {
		r := trace.Request{At: time.Duration(i) * time.Second / callsPerSecond, Input: promptTokens, Output: 4}
		from := rng.IntN(beginnings)
		if i >= strangers {
			r.Session = 1 + uint64(rng.IntN(callers))
			if alike {
				from = int(r.Session)
			}
		}
		for k := range promptTokens / callBlock {
			r.Blocks = append(r.Blocks, uint64(1+from*promptTokens+k))
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

// sendCalls runs cacheroute on four workers, each of which holds half of the
// beginnings, and returns its plans and the share of prompt tokens that were cached
// in each part of the requests with a key.
func sendCalls(t *testing.T, alike bool) (plans []router.Plan, cached []float64) {
	t.Helper()
	links, err := chain.Open("cacheroute", 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Instance: links[0].Instance}
	links[0].Instance = w
	p, err := engine.ProfileByName(chatProfile)
	if err != nil {
		t.Fatal(err)
	}
	p.KVBlocks = beginnings / 2 * promptTokens / engine.DefaultBlockTokens
	run, err := sim.Run(t.Context(), sim.Config{Trace: calls(alike), Workers: sim.Fleet(4, p), Chain: links, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(run.Requests[strangers:], each) {
		cached = append(cached, share(part))
	}
	return w.plans, cached
}

// share is that of prompt tokens which were cached.
func share(requests []measure.Request) float64 {
	hits, all := 0.0, 0.0
	for _, r := range requests {
		hits, all = hits+float64(r.Cached), all+float64(r.Prompt)
	}
	return hits / all
}

// isPlanned reports whether a plan has places for keys, gaveUp whether it says that
// this does not pay.
func isPlanned(p router.Plan) bool { return len(p.Table.Keys) > 0 }
func gaveUp(p router.Plan) bool    { return strings.Contains(p.Note, "does not pay") }

// TestGate: where a caller's prompts have nothing in common, a plan by callers costs
// what requests found where the index of prefixes sent them. That is measured, the
// plan is given up, and the index decides again; after a while it is tried anew.
func TestGate(t *testing.T) {
	plans, cached := sendCalls(t, false)
	t.Logf("cached: %.2f", cached)
	first := slices.IndexFunc(plans, isPlanned)
	end := slices.IndexFunc(plans, gaveUp)
	if first < 0 || end < first {
		t.Fatalf("planned first as plan %d, given up as plan %d", first, end)
	}
	if lost := plans[end]; isPlanned(lost) || lost.Bind.TTL > 0 || !lost.Trial.Lost {
		t.Errorf("given up: %+v", lost)
	}
	if worst, later := slices.Min(cached[:4]), cached[8]; worst > 0.6 || later < 0.9 {
		t.Errorf("%.3f cached while planned, %.3f after that; want at most 0.6, at least 0.9", worst, later)
	}
	if again := slices.IndexFunc(plans[end:], isPlanned); again < 0 {
		t.Error("a plan is never tried again")
	} else if waited := plans[end+again].Trial.Began.Sub(plans[end].Trial.Began); waited < 15*time.Minute {
		t.Errorf("tried again after %v", waited)
	}
}

// TestGateStaysOpen: where a caller's prompts begin alike, the plan stays.
func TestGateStaysOpen(t *testing.T) {
	plans, cached := sendCalls(t, true)
	first := slices.IndexFunc(plans, isPlanned)
	if first < 0 || slices.ContainsFunc(plans[first:], func(p router.Plan) bool { return !isPlanned(p) }) {
		t.Errorf("planned from plan %d on, and not always", first)
	}
	if least := slices.Min(cached); least < 0.95 {
		t.Errorf("cached: %.2f", cached)
	}
}
