// Package statetest is the conformance kit for implementations of state.Store.
// Each subtest's name and failure say the rule that it holds.
package statetest

import (
	"context"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
)

// Harness is shared state under test. Each subtest gets an empty one.
type Harness struct {
	// Open returns a store as one more gateway has it; all share one state. The
	// harness closes it.
	Open func(t *testing.T) state.Store
	// Pass lets the store's time pass until a condition holds, and fails the test
	// if it never does.
	Pass func(t *testing.T, until func() bool)
}

// Run tests stores; start makes an empty shared state.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	tests := []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"facts are shared", factsShared},
		{"facts expire", factsExpire},
		{"facts are refused", factsRefused},
		{"snapshots are shared", snapshotsShared},
		{"snapshots expire", snapshotsExpire},
		{"snapshots are crowded out", snapshotsCrowded},
		{"snapshots are refused", snapshotsRefused},
		{"leases exclude", leasesExclude},
		{"leases expire", leasesExpire},
		{"leases race", leasesRace},
		{"plans are shared", plansShared},
		{"plans of the past are stale", plansStale},
		{"plans expire", plansExpire},
		{"plans race", plansRace},
		{"plans are refused", plansRefused},
		{"names do not mix", namesDoNotMix},
		{"callers own their bytes", callersOwnBytes},
		{"contexts end calls", contextsEndCalls},
		{"the clock runs", clockRuns},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, start(t)) })
	}
}

func clockRuns(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	begin, err := s.Now(ctx)
	must(t, err)
	h.Pass(t, func() bool {
		now, err := s.Now(ctx)
		must(t, err)
		if now.Before(begin) {
			t.Fatalf("the store's clock went from %v back to %v", begin, now)
		}
		return now.After(begin)
	})
	if !s.Health().Up {
		t.Errorf("after an answer Health is %+v, want up", s.Health())
	}
}

func contextsEndCalls(t *testing.T, h Harness) {
	s := h.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls(s) {
		if err := call(ctx); err == nil {
			t.Errorf("%s with a cancelled context gave no error", name)
		}
	}
	for name, call := range calls(s) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s after cancelled calls: %v", name, err)
		}
	}
}

// calls are all calls of a store which wait.
func calls(s state.Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Facts":       func(ctx context.Context) error { _, err := s.Facts(ctx, "pool", keys(1)); return err },
		"Write":       func(ctx context.Context) error { return s.Write(ctx, "pool", []router.Write{write(1, "v", minute)}) },
		"PutSnapshot": func(ctx context.Context) error { return s.PutSnapshot(ctx, "pool", "a", nil, minute) },
		"Peers":       func(ctx context.Context) error { _, err := s.Peers(ctx, "pool", "a"); return err },
		"Lease":       func(ctx context.Context) error { _, err := s.Lease(ctx, "pool", "a", minute); return err },
		"Release":     func(ctx context.Context) error { return s.Release(ctx, "pool", "a") },
		"PublishPlan": func(ctx context.Context) error {
			now, err := s.Now(ctx)
			version := uint64(max(1, now.UnixNano()))
			if err != nil {
				return err
			}
			return s.PublishPlan(ctx, "pool", "a", state.Plan{Version: version, Fence: 1 << 63}, minute)
		},
		"LatestPlan": func(ctx context.Context) error { _, _, err := s.LatestPlan(ctx, "pool", "a", 0); return err },
		"Now":        func(ctx context.Context) error { _, err := s.Now(ctx); return err },
	}
}

// minute is longer than any test; soon passes while a test waits.
const (
	minute = time.Minute
	soon   = 20 * time.Millisecond
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
