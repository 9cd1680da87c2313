package strategies

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestNoHerd sends 64 requests at once to four equal workers: none may be run
// down.
func TestNoHerd(t *testing.T) {
	equal := router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}}
	energy := equal
	energy.Energy = router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, PUE: 1.2}
	energy.Carbon.GramsPerKWh = router.Gauge{Value: 300}
	for _, test := range []struct {
		name    string
		options router.Options
		worker  router.Worker
		spread  int // of the fullest and the emptiest worker
	}{
		{"least-busy", nil, equal, 0},
		{"least-busy", router.Options{"mode": "seed"}, equal, 0},
		{"round-robin", nil, equal, 0},
		{"latency", nil, equal, 0},
		{"joule", nil, equal, 0},
		{"joule", nil, energy, 0},
		{"carbon", nil, equal, 0},
		{"carbon", nil, energy, 0},
		{"lmetric", nil, equal, 0},
		{"dynamo", nil, equal, 0},
		{"prefix", nil, equal, 0},
		{"preble", nil, equal, 0},
		{"weighted", nil, equal, 0},
		{"cacheroute", nil, equal, 0},
		{"sticky", nil, equal, 4},
		{"p2c", nil, equal, 4},
		{"p2c", router.Options{"load": "queued-tokens"}, equal, 4},
		{"p2c", router.Options{"load": "busyness"}, equal, 4},
		{"p2c", router.Options{"choices": "4"}, equal, 0},
		{router.BuiltIn, nil, equal, 4},
		{"chwbl", router.Options{"slack": "0"}, equal, 5},
		{"dynamo", router.Options{"temperature": "0.5"}, equal, 6},
		{"weighted", router.Options{"pick": "draw"}, equal, 6},
		{"dualmap", nil, equal, 6},
	} {
		p, count := newPool(t, test.name, test.options, 4, test.worker), map[string]int{}
		for i := range 64 {
			count[p.send(t, prompt(i, 320))]++
		}
		for w, n := range count {
			if len(count) != 4 || n < 16-test.spread || n > 16+test.spread {
				t.Errorf("%s %v: %s got %d of 64 requests: %v", test.name, test.options, w, n, count)
			}
		}
	}
}

// TestNoHerdByLatency sends 64 requests at once to four workers whose latencies differ by
// chance, and to four of which one is three times as slow as the others.
func TestNoHerdByLatency(t *testing.T) {
	for _, test := range []struct {
		millis [4]time.Duration
		want   [4]int
	}{
		{[4]time.Duration{1000, 1200, 1100, 1040}, [4]int{16, 16, 16, 16}},
		{[4]time.Duration{1000, 1000, 3000, 1000}, [4]int{22, 21, 0, 21}},
	} {
		p := newPool(t, "latency", nil, 4, router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}})
		for i, ms := range test.millis {
			s := p.take(t, 0, prompt(i, 16))
			p.core.Dispatched(0, s.Ticket, fmt.Sprint("w", i))
			p.core.Finish(router.Time(ms*time.Millisecond), s.Ticket, router.Ending{Outcome: router.Completed})
		}
		later := router.Time(time.Minute)
		p.core.Tick(later)
		p.plan(t, later)
		count := map[string]int{}
		for i := range 64 {
			count[p.take(t, later, prompt(i, 320)).Worker.ID]++
		}
		for i, want := range test.want {
			if got := count[fmt.Sprint("w", i)]; got < want-1 || got > want+1 {
				t.Errorf("latencies of %v ms: %v, want %v", test.millis, count, test.want)
				break
			}
		}
	}
}

// TestPacking sends requests to workers whose wake power is known: they pack, but
// none goes where it is expected to miss the target for the time to first token
// while another worker could meet it.
func TestPacking(t *testing.T) {
	const workers, batch, prefill, ttft = 4, 64, 8000, 2.0 // the defaults
	for _, name := range []string{"joule", "carbon"} {
		w := router.Worker{
			Energy: router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, WakeWatts: 300, PUE: 1.2},
			Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 300}},
		}
		p, used := newPool(t, name, nil, workers, w), map[string]bool{}
		packed := 0
		for i := range 200 {
			r := prompt(i, 160*(1+i%5))
			predicted, meets := map[string]float64{}, false
			for _, m := range p.core.Loads(0) {
				predicted[m.ID] = float64(m.Load.QueuedTokens+r.PromptTokens)/prefill + ttft*float64(m.Load.InFlight)/batch
				meets = meets || predicted[m.ID] <= ttft
			}
			at := p.send(t, r)
			if meets && predicted[at] > ttft {
				t.Fatalf("%s: request %d went to %s, predicted %v: %v", name, i, at, predicted[at], predicted)
			}
			if used[at] = true; len(used) == 1 {
				packed++
			}
		}
		if packed < 10 || len(used) != workers {
			t.Errorf("%s: %d requests on the first worker before another was woken, %d workers used in the end", name, packed, len(used))
		}
	}
}
