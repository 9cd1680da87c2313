package sim

import (
	"math"
	"testing"
	"time"

	"gatewayd/benchlab/sim/signal"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// TestSignals gives planners each signal of reuse. A request a second finds 32 of
// its 33 prompt tokens, all but the first one, whose 33 take 33 ms, where later
// ones take 10. The traffic starts at second 1; plans are made about every 10 s.
func TestSignals(t *testing.T) {
	var requests []trace.Request
	for i := range 30 {
		requests = append(requests, call(time.Duration(i)*time.Second, 33, 1, 5, 1, 2))
	}
	told := func(by signal.Signal, faults ...Fault) (all []router.Reuse) {
		s := &custom{info: router.Info{Plans: true}, plan: func(in router.PlanInput) (router.Plan, error) {
			all = append(all, in.Reuse)
			return router.Plan{}, nil
		}}
		c := Config{Trace: traffic(requests...), Workers: Fleet(1, tenfold()), Chain: only(s)}
		c.Options.Signal, c.Options.ScrapeInterval, c.Options.Faults = by, 15*time.Second, faults
		run(t, c)
		return all
	}
	read := func(n float64) float64 { return (n - 1) * 32 / (n * 33) } // share after n requests
	const tolerance = 0.02                                             // older requests count less
	for by, want := range map[signal.Signal][3]router.Reuse{
		signal.Usage: {{}, {By: router.ByUsage, Share: read(9)}, {By: router.ByUsage, Share: read(19)}},
		// The first reading in the traffic is that of second 15, which sees 14 requests.
		signal.Counters: {{}, {By: router.ByTTFT, Share: 1 - 10.0/33}, {By: router.ByScrape, Share: read(14)}},
		signal.TTFT:     {{}, {By: router.ByTTFT, Share: 1 - 10.0/33}, {By: router.ByTTFT, Share: 1 - 10.0/33}},
		signal.None:     {},
	} {
		got := told(by)
		if len(got) < len(want) {
			t.Fatalf("%v: %d plans", by, len(got))
		}
		for i, w := range want {
			if got[i].By != w.By || math.Abs(got[i].Share-w.Share) > tolerance {
				t.Errorf("%v, plan %d: told %+v, want %+v", by, i, got[i], w)
			}
		}
	}
	blind, err := ParseFault("stale-metrics@0s")
	if err != nil {
		t.Fatal(err)
	}
	for i, reuse := range told(signal.Counters, blind) {
		if reuse.By == router.ByScrape {
			t.Errorf("plan %d: told %+v while no figures can be read", i, reuse)
		}
	}
}
