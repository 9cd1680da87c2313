package survey

import (
	"math"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/paper/chain"
	draw "gatewayd/benchlab/paper/workload"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// blind is a planner that is not told how long requests take.
type blind struct{ router.Instance }

// Plan hides the latencies of the workers.
func (b blind) Plan(in router.PlanInput) (router.Plan, error) {
	for i := range in.Fleet.Workers {
		in.Fleet.Workers[i].Load.Latency = router.Unknown
	}
	return b.Instance.(router.Planner).Plan(in)
}

// result is what came of a run: times to first token in seconds, and the requests of
// slow workers over those of fast ones in the last two thirds.
type result struct {
	strategy        string
	sees            bool // latencies
	mean, p99, slow float64
}

// unequal sends keys of lognormal rates, most of whose prompts are their own, to
// eight workers, every second of which is half as fast.
func unequal(t *testing.T, strategy string, sees bool, seed uint64) result {
	t.Helper()
	links, err := chain.Open(strategy, seed)
	if err != nil {
		t.Fatal(err)
	}
	if !sees {
		links[0].Instance = blind{links[0].Instance}
	}
	p, err := engine.ProfileByName(chatProfile)
	if err != nil {
		t.Fatal(err)
	}
	const workers, requests, rate = 8, 9000, 60
	traffic := draw.Traffic{
		Keys: draw.Top(draw.Population(draw.Keys, seed), 1000), Requests: requests, CV: 1,
		Prompt: draw.Prompt{Context: 128, Turn: 32}, Output: 200, Seed: seed,
	}
	var slow []sim.Fault
	for w := 1; w < workers; w += 2 {
		slow = append(slow, sim.Fault{Kind: sim.Slow, Target: w, Factor: 2})
	}
	run, err := sim.Run(t.Context(), sim.Config{
		Trace: traffic.Draw().At(rate), Workers: sim.Fleet(workers, p), Chain: links, Seed: seed,
		Options: sim.Options{PlanDelay: planDelay, Faults: slow},
	})
	if err != nil {
		t.Fatal(err)
	}
	ttft, served := measure.Of(run, measure.SLO{TTFT: time.Second, TPOT: time.Second}).TTFT, [2]float64{}
	for _, r := range run.Requests[requests/3:] {
		served[r.Worker%2]++
	}
	return result{strategy, sees, ttft.Mean.Or(math.Inf(1)), ttft.P99.Or(math.Inf(1)), served[1] / served[0]}
}

// TestUnequalWorkers: that some workers are half as fast is told from latencies, so
// they get less and requests wait less, than with speeds taken for equal and than
// with strategies that see load alone.
func TestUnequalWorkers(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		told := unequal(t, "cacheroute", true, seed)
		t.Logf("seed %d: %v", seed, told)
		for _, other := range []result{unequal(t, "cacheroute", false, seed), unequal(t, "least-busy", true, seed), unequal(t, "sticky", true, seed), unequal(t, "lmetric", true, seed)} {
			t.Logf("seed %d: %v", seed, other)
			if told.mean >= other.mean || told.p99 >= other.p99 {
				t.Errorf("seed %d: %v, want it less than %v", seed, told, other)
			}
			if !other.sees && told.slow > other.slow-0.05 {
				t.Errorf("seed %d: slow workers get %.2f of what fast ones do, %.2f if nobody tells", seed, told.slow, other.slow)
			}
		}
	}
}
