package main

import (
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

func figures(hit, ttft float64) measure.Figures {
	f := measure.Figures{Requests: 9, Completed: 9, KVHit: engine.Known(hit)}
	f.TTFT.P50 = engine.Known(ttft)
	return f
}

func TestProblems(t *testing.T) {
	good := []pair{
		{chain: "a", simulated: figures(0.30, 0.100), live: figures(0.305, 0.104)},
		{chain: "b", simulated: figures(0.40, 0.200), live: figures(0.396, 0.193)},
		{chain: "c", simulated: figures(0.304, 0.102), live: figures(0.300, 0.099)}, // ties with a
	}
	if list := problems(good); len(list) > 0 {
		t.Errorf("twins that agree: %q", list)
	}
	for want, p := range map[string]pair{
		"KV hit differs by +1.20":       {simulated: figures(0.3, 0.1), live: figures(0.312, 0.1)},
		"median TTFT differs by -6.0 %": {simulated: figures(0.3, 0.1), live: figures(0.3, 0.094)},
		"8 of 9 requests completed":     {simulated: figures(0.3, 0.1), live: measure.Figures{Requests: 9, Completed: 8, KVHit: engine.Known(0.3)}},
	} {
		if list := problems([]pair{p}); len(list) == 0 || !strings.Contains(list[0], want) {
			t.Errorf("%q, want %q", list, want)
		}
	}
	list := swapped([]pair{
		{chain: "a", simulated: figures(0.30, 0.100), live: figures(0.50, 0.200)},
		{chain: "b", simulated: figures(0.40, 0.150), live: figures(0.40, 0.150)},
	})
	if len(list) != 2 || !strings.Contains(list[0], "KV hit") || !strings.Contains(list[1], "median TTFT") {
		t.Errorf("two contenders that swapped: %q", list)
	}
}

// TestSlowed: the simulator's profile takes as many times as long for every step
// as the gateway's time is dilated.
func TestSlowed(t *testing.T) {
	for _, p := range engine.Profiles() {
		s := scene{profile: p, dilation: 3}
		slow := s.slowed()
		for _, load := range []engine.Load{
			{Decoding: 1, Context: 100}, {Prefilling: 1, PrefillTokens: 8000, Quad2: 8000 * 8000},
			{Decoding: 40, Context: 90_000, Prefilling: 2, PrefillTokens: 900, Quad2: 5_000_000},
		} {
			if got, want := slow.Step(load), 3*p.Step(load); (got - want).Abs() > 3*time.Nanosecond {
				t.Errorf("%s: a step of %v takes %v, want %v", p.Name, load, got, want)
			}
		}
	}
}
