package worker

import (
	"testing"
	"time"

	"gatewayd/benchlab/engine"
)

// TestMetricsPrecedeAnswers: who has got a token finds its step in the metrics.
func TestMetricsPrecedeAnswers(t *testing.T) {
	e, err := engine.New(profile(t))
	if err != nil {
		t.Fatal(err)
	}
	a := &actor{engine: e, clock: newEagerClock(), origin: newEagerClock().Now(), speed: 1,
		jobs: map[uint64]*job{}, metrics: newMetrics("m", e.Profile())}
	j := &job{request: engine.Request{ID: 1, PromptTokens: 8, OutputTokens: 3}, reason: "length", wake: make(chan struct{}, 1)}
	if err := a.submit(j); err != nil {
		t.Fatal(err)
	}
	end, busy := e.Start(0, 0)
	for busy {
		a.finish(end)
		p, err := j.look()
		if stats := a.metrics.stats.Load(); err != nil || int64(p.tokens) != stats.GeneratedTokens {
			t.Errorf("the job has %d tokens, the metrics %d, %v", p.tokens, stats.GeneratedTokens, err)
		}
		end, busy = e.Start(end, end)
	}
	if p, _ := j.look(); !p.ended || p.tokens != 3 || len(a.jobs) != 0 {
		t.Errorf("at the end: %+v, %d jobs", p, len(a.jobs))
	}
}

// TestLagIsBounded: after a long pause of the process the engine goes on from
// the present, instead of racing through the time it missed.
func TestLagIsBounded(t *testing.T) {
	e, err := engine.New(profile(t))
	if err != nil {
		t.Fatal(err)
	}
	clock := newEagerClock()
	a := &actor{engine: e, clock: clock, origin: clock.Now(), speed: 1,
		jobs: map[uint64]*job{}, metrics: newMetrics("m", e.Profile())}
	j := &job{request: engine.Request{ID: 1, PromptTokens: 8, OutputTokens: 500}, reason: "length", wake: make(chan struct{}, 1)}
	if err := a.submit(j); err != nil {
		t.Fatal(err)
	}
	a.catchUp() // begins the first step
	clock.Timer(time.Hour)
	a.catchUp()
	if p, _ := j.look(); p.tokens != 1 {
		t.Errorf("%d tokens after one overdue step, want 1", p.tokens)
	}
	if end, _ := e.End(); end < time.Hour {
		t.Errorf("the next step ends at %v, want after an hour", end)
	}
	clock.Timer(100 * time.Millisecond) // a lag that is made up for
	a.catchUp()
	if p, _ := j.look(); p.tokens < 10 {
		t.Errorf("%d tokens after 100 ms more, want at least 10", p.tokens)
	}
}
