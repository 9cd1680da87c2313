package statetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"gatewayd/state"
)

func publish(t *testing.T, s state.Store, version, fence uint64, text string) error {
	t.Helper()
	return s.PublishPlan(t.Context(), "pool", "x", state.Plan{Version: version, Fence: fence, Bytes: []byte(text)}, minute)
}

func plansShared(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	if plan, ok, err := b.LatestPlan(ctx, "pool", "x", 0); ok || err != nil {
		t.Errorf("an empty store has the plan %+v, %v", plan, err)
	}
	fence := take(t, a, "a", minute).Fence
	must(t, publish(t, a, 7, fence, "seven"))
	plan, ok, err := b.LatestPlan(ctx, "pool", "x", 6)
	must(t, err)
	if !ok || plan.Version != 7 || plan.Fence != fence || string(plan.Bytes) != "seven" || plan.Age < 0 {
		t.Errorf("the plan is %+v, %v, want version 7 under fence %d", plan, ok, fence)
	}
	for _, known := range []uint64{7, 8, math.MaxUint64} {
		if plan, ok, err := b.LatestPlan(ctx, "pool", "x", known); ok || err != nil {
			t.Errorf("above version %d there is %+v, %v, want nothing", known, plan, err)
		}
	}
	if _, ok, err := b.LatestPlan(ctx, "pool", "y", 0); ok || err != nil {
		t.Errorf("another strategy has the plan (error %v)", err)
	}
	large := bytes.Repeat([]byte("0123456789abcde"), 1<<17)
	must(t, publish(t, a, math.MaxUint64, fence, string(large)))
	h.Pass(t, func() bool {
		plan, ok, err = b.LatestPlan(ctx, "pool", "x", 7)
		must(t, err)
		if !ok || plan.Version != math.MaxUint64 || !bytes.Equal(plan.Bytes, large) {
			t.Fatalf("a plan of %d bytes and the largest version came back as %d bytes, version %d", len(large), len(plan.Bytes), plan.Version)
		}
		return plan.Age >= soon
	})
}

func plansStale(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	old := take(t, a, "a", minute).Fence
	must(t, publish(t, a, 5, old, "five"))
	stale := func(rule string, version, fence uint64) {
		t.Helper()
		if err := publish(t, a, version, fence, "stale"); !errors.Is(err, state.ErrStale) {
			t.Errorf("%s: version %d under fence %d gave %v, want ErrStale", rule, version, fence, err)
		}
	}
	stale("the same version", 5, old)
	stale("an old version", 4, old)
	stale("a fence of before the lease", 6, old-1)
	must(t, a.Release(ctx, "pool", "a"))
	must(t, publish(t, a, 6, old, "six")) // nobody else has the lease yet
	fence := take(t, b, "b", minute).Fence
	stale("the lease has gone to another, who has published nothing", 7, old)
	must(t, publish(t, b, 7, fence, "seven"))
	stale("the lease has gone to another, who has published", 8, old)
	must(t, publish(t, b, 8, fence+10, "eight"))
	stale("a plan was published under a fence of the future", 9, fence)
	plan, _, err := a.LatestPlan(ctx, "pool", "x", 0)
	must(t, err)
	if plan.Version != 8 || string(plan.Bytes) != "eight" {
		t.Errorf("after stale plans the latest is %+v, want version 8", plan)
	}
}

func plansExpire(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	must(t, publish(t, s, 5, 1, "five"))
	must(t, s.PublishPlan(ctx, "pool", "x", state.Plan{Version: 6, Fence: 1}, soon))
	h.Pass(t, func() bool {
		_, ok, err := s.LatestPlan(ctx, "pool", "x", 0)
		must(t, err)
		return !ok
	})
	must(t, publish(t, s, 1, 1, "one"))
}

// plansRace has publishers and readers at once: readers see versions grow, and
// each version with its own bytes.
func plansRace(t *testing.T, h Harness) {
	const publishers, rounds = 6, 40
	s, ctx := h.Open(t), t.Context()
	var best uint64
	var lock sync.Mutex
	var group sync.WaitGroup
	for range publishers {
		group.Go(func() {
			for version := uint64(1); version <= rounds; version++ {
				plan := state.Plan{Version: version, Bytes: binary.BigEndian.AppendUint64(nil, version)}
				switch err := s.PublishPlan(ctx, "pool", "x", plan, minute); {
				case err == nil:
					lock.Lock()
					best = max(best, version)
					lock.Unlock()
				case !errors.Is(err, state.ErrStale):
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		group.Go(func() {
			var known uint64
			for range rounds {
				plan, ok, err := s.LatestPlan(ctx, "pool", "x", known)
				if err != nil {
					t.Error(err)
				}
				if !ok {
					continue
				}
				if plan.Version <= known || binary.BigEndian.Uint64(plan.Bytes) != plan.Version {
					t.Errorf("after version %d came %d with bytes %x", known, plan.Version, plan.Bytes)
				}
				known = plan.Version
			}
		})
	}
	group.Wait()
	plan, _, err := s.LatestPlan(ctx, "pool", "x", 0)
	must(t, err)
	if plan.Version != best || best != rounds {
		t.Errorf("the latest version is %d, the highest accepted %d, want %d", plan.Version, best, rounds)
	}
}

func plansRefused(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	for name, c := range map[string]struct {
		pool, strategy string
		plan           state.Plan
		ttl            time.Duration
	}{
		"without version":  {"pool", "x", state.Plan{}, minute},
		"above MaxPlan":    {"pool", "x", state.Plan{Version: 1, Bytes: make([]byte, state.MaxPlan+1)}, minute},
		"without life":     {"pool", "x", state.Plan{Version: 1}, 0},
		"without strategy": {"pool", "", state.Plan{Version: 1}, minute},
		"without pool":     {"", "x", state.Plan{Version: 1}, minute},
	} {
		err := s.PublishPlan(ctx, c.pool, c.strategy, c.plan, c.ttl)
		if err == nil || errors.Is(err, state.ErrStale) {
			t.Errorf("a plan %s gave %v, want it refused", name, err)
		}
	}
	if _, _, err := s.LatestPlan(ctx, "pool", "", 0); err == nil {
		t.Error("a strategy without name was accepted")
	}
}
