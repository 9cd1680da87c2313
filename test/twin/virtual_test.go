package main

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

// virtual is a small scene. Virtual time costs nothing, so a dilation lets
// several plans come into force.
func virtual(t *testing.T, x traffic) scene {
	t.Helper()
	tr, err := x.draw(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	return scene{trace: tr, profile: p, workers: 4, dilation: 10, seed: 1, plan: 50 * time.Millisecond}
}

// TestVirtualTwin holds that simulator and gateway do the same: every request goes
// to the same worker, finds the same tokens in its cache, and gets its first and
// its last token at the same time. The gateway, its workers and the client that
// replays the traffic are real, with HTTP between them; only the network is in
// memory and the time is virtual. Planners get an interval that ends at a tick of
// both clocks; strategies that place by the hash of a key (chwbl) are only alike,
// since a gateway hashes session names and the simulator numbers.
func TestVirtualTwin(t *testing.T) {
	busy := virtual(t, traffic{turns: 3, rows: 100, rate: 100, prompt: 6000, answer: 16})
	turns := virtual(t, traffic{turns: 4, rows: 80, rate: 100, prompt: 6000, answer: 16})
	turns.timing = replay.Sessions
	for _, x := range []struct {
		name, chain string
		scene
	}{
		{"round robin", "round-robin", busy},
		{"least busy", "least-busy", busy},
		{"sticky", "sticky:home=next", busy},
		{"sessions", "sticky:home=next", turns},
		{"cached tokens", "lmetric", busy},
		{"rendezvous", "chwbl", busy},
		{"planned", "cacheroute:mode=paper:interval=9950ms+sticky:home=next", busy},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				same(t, x.scene, x.chain)
			})
		})
	}
}

// same runs a scene through both twins and compares them request by request.
func same(t *testing.T, s scene, chain string) {
	simulated, err := s.simulate(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	w := build(t, s, chain, nil)
	<-time.After(lead)
	live := w.replay(t.Context())
	w.close()
	run := live.Run()
	slo := measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * time.Millisecond}
	figures := measure.Of(simulated, slo)
	t.Logf("KV hit %v, TTFT p50 %v s, decisions %+v", figures.KVHit, figures.TTFT.P50, simulated.Decisions)
	if len(run.Requests) != len(simulated.Requests) || figures.Completed != len(run.Requests) {
		t.Fatalf("%d requests live, %d simulated, %d completed; live failures %v", len(run.Requests), len(simulated.Requests), figures.Completed, live.Messages)
	}
	wrong := 0
	for i := range run.Requests {
		a, b := &simulated.Requests[i], &run.Requests[i]
		if simulated.Workers[a.Worker].ID != run.Workers[b.Worker].ID || a.Prompt != b.Prompt || a.Output != b.Output || a.Cached != b.Cached ||
			!near(a.Arrived, b.Arrived) || !near(a.First, b.First) || !near(a.Ended, b.Ended) {
			if wrong++; wrong < 4 {
				t.Errorf("request %d: simulated %+v at %s, live %+v at %s", i, *a, simulated.Workers[a.Worker].ID, *b, run.Workers[b.Worker].ID)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d requests differ", wrong, len(run.Requests))
	}
	if figures.KVHit.Or(0) < 0.05 {
		t.Errorf("a KV hit of %v: the test is too easy", figures.KVHit)
	}
}

// near allows for timers, which are rounded up to a nanosecond each.
func near(a, b time.Duration) bool { return (a - b).Abs() < 20*time.Microsecond }

// TestRecordedTwin holds that what a gateway writes down of live traffic is that
// traffic: the same requests at the same times in the same sessions, which share
// prefixes as before.
func TestRecordedTwin(t *testing.T) {
	s := virtual(t, traffic{turns: 3, rows: 100, rate: 30, prompt: 6000, answer: 16})
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/traffic.jsonl"
		r := recorder(t, path)
		w := build(t, s, "sticky", r)
		w.replay(t.Context())
		w.close()
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := trace.Read(f, path, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compareTraces(t, s, got)
	})
}

func compareTraces(t *testing.T, s scene, got *trace.Trace) {
	want := s.trace
	if len(got.Requests) != len(want.Requests) {
		t.Fatalf("%d requests were recorded, want %d", len(got.Requests), len(want.Requests))
	}
	sessions := map[uint64]uint64{}
	for i := range want.Requests {
		a, b := &want.Requests[i], &got.Requests[i]
		at := time.Duration(float64(b.At) / s.dilation)
		if a.Input != b.Input || max(a.Output, 1) != b.Output || !near(a.At-want.Requests[0].At, at) {
			t.Fatalf("request %d is %d+%d tokens at %v, want %d+%d at %v", i, b.Input, b.Output, at, a.Input, a.Output, a.At)
		}
		if was, ok := sessions[a.Session]; ok && was != b.Session {
			t.Errorf("request %d is in session %d, want %d", i, b.Session, was)
		}
		sessions[a.Session] = b.Session
	}
	// The blocks of the gateway are smaller, and the last one of a prompt holds the end of the message.
	a, b := want.Info().Reuse.TokenHit, got.Info().Reuse.TokenHit
	if b < a-0.005 || b > a+0.01 {
		t.Errorf("a cache that never evicts would serve %.4f of the tokens, want %.4f", b, a)
	}
	t.Logf("%d sessions, infinite cache %.4f of the trace, %.4f of the record; notes %q", len(sessions), a, b, got.Notes)
}
