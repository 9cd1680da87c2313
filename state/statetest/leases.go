package statetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"gatewayd/state"
)

func take(t *testing.T, s state.Store, gateway string, ttl time.Duration) state.Lease {
	t.Helper()
	lease, err := s.Lease(t.Context(), "pool", gateway, ttl)
	must(t, err)
	if lease.Held != (lease.Holder == gateway) || lease.Fence == 0 {
		t.Fatalf("%s got the lease %+v", gateway, lease)
	}
	return lease
}

func leasesExclude(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	first := take(t, a, "a", minute)
	if !first.Held {
		t.Fatalf("a free lease was not given: %+v", first)
	}
	if now, err := a.Now(ctx); err != nil || first.Fence > uint64(max(1, now.UnixMicro())) {
		t.Errorf("fence %d, time %v, %v; want a fence from the store's clock", first.Fence, now, err)
	}
	if got := take(t, b, "b", minute); got.Held || got.Holder != "a" || got.Fence != first.Fence {
		t.Errorf("b got %+v while a holds fence %d", got, first.Fence)
	}
	if got := take(t, a, "a", minute); got != first {
		t.Errorf("a renewed its lease and got %+v, want %+v", got, first)
	}
	must(t, b.Release(ctx, "pool", "b"))
	if got := take(t, b, "b", minute); got.Held {
		t.Errorf("b freed the lease of a: %+v", got)
	}
	if lease, err := b.Lease(ctx, "other", "b", minute); err != nil || !lease.Held {
		t.Errorf("the lease of another pool is %+v, %v, want held by b", lease, err)
	}
	must(t, a.Release(ctx, "pool", "a"))
	second := take(t, b, "b", minute)
	if !second.Held || second.Fence <= first.Fence {
		t.Errorf("after the release b got %+v, want it held, with a fence above %d", second, first.Fence)
	}
	must(t, a.Release(ctx, "pool", "a"))
	if got := take(t, b, "b", minute); got != second {
		t.Errorf("a freed the lease of b: %+v, want %+v", got, second)
	}
	for name, err := range map[string]error{
		"without gateway":   failure(a.Lease(ctx, "pool", "", minute)),
		"without pool":      failure(a.Lease(ctx, "", "a", minute)),
		"without a life":    failure(a.Lease(ctx, "pool", "a", 0)),
		"release of no-one": a.Release(ctx, "pool", ""),
	} {
		if err == nil {
			t.Errorf("lease %s was accepted", name)
		}
	}
}

func failure(_ state.Lease, err error) error { return err }

func leasesExpire(t *testing.T, h Harness) {
	a, b := h.Open(t), h.Open(t)
	first := take(t, a, "a", minute)
	take(t, a, "a", soon) // the last renewal
	var second state.Lease
	h.Pass(t, func() bool {
		second = take(t, b, "b", minute)
		return second.Held
	})
	if second.Fence <= first.Fence {
		t.Errorf("fence after the hand-over is %d, want above %d", second.Fence, first.Fence)
	}
	if got := take(t, a, "a", minute); got.Held || got.Holder != "b" {
		t.Errorf("a came back and got %+v, want it with b", got)
	}
}

// leasesRace has gateways take and free the lease at once: no two may hold it
// at a time, and fences grow in the order in which it is held.
func leasesRace(t *testing.T, h Harness) {
	const gateways, rounds = 8, 30
	s, ctx := h.Open(t), t.Context()
	var holding sync.Mutex // held by the gateway that has the lease
	var last uint64
	var group sync.WaitGroup
	for g := range gateways {
		name := fmt.Sprintf("g%d", g)
		group.Go(func() {
			for range rounds {
				lease, err := s.Lease(ctx, "pool", name, minute)
				if err != nil {
					t.Error(err)
					return
				}
				if !lease.Held {
					continue
				}
				if !holding.TryLock() {
					t.Errorf("%s got the lease while another held it: %+v", name, lease)
					return
				}
				if lease.Fence <= last {
					t.Errorf("fence %d after %d", lease.Fence, last)
				}
				last = lease.Fence
				holding.Unlock()
				if err := s.Release(ctx, "pool", name); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if last == 0 {
		t.Error("nobody ever got the lease")
	}
}
