package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/state"
)

type holder struct {
	gateway string
	fence   uint64
}

type published struct {
	at   time.Time
	plan state.Plan
}

// PutSnapshot replaces the gateway's snapshot.
func (s *Store) PutSnapshot(ctx context.Context, pool, gateway string, snapshot []byte, ttl time.Duration) error {
	if err := first(ctx.Err(), state.CheckSnapshot(pool, gateway, snapshot, ttl)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	s.snapshots.put(now, name{pool, gateway}, stamped{now, copied(snapshot)}, len(snapshot), ttl)
	s.crowd(pool)
	return nil
}

// crowd forgets the gateway that expires first when there are too many.
func (s *Store) crowd(pool string) {
	var members int
	var oldest *entry[name, stamped]
	for _, e := range s.snapshots.entries {
		if e.key.pool != pool {
			continue
		}
		members++
		if oldest == nil || e.expires.Before(oldest.expires) {
			oldest = e
		}
	}
	if members > state.MaxGateways {
		s.snapshots.remove(oldest.key)
	}
}

// Peers returns the snapshots of all gateways but self.
func (s *Store) Peers(ctx context.Context, pool, self string) ([]state.Peer, error) {
	if err := first(ctx.Err(), state.CheckMember(pool, self)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	s.snapshots.sweep(now)
	var peers []state.Peer
	for id, e := range s.snapshots.entries {
		if id.pool == pool && id.of != self {
			peers = append(peers, state.Peer{
				Gateway: id.of, Snapshot: copied(e.value.bytes), Age: max(0, now.Sub(e.value.at)),
			})
		}
	}
	slices.SortFunc(peers, func(a, b state.Peer) int { return strings.Compare(a.Gateway, b.Gateway) })
	return peers, nil
}

// Lease takes or renews the pool's lease.
func (s *Store) Lease(ctx context.Context, pool, gateway string, ttl time.Duration) (state.Lease, error) {
	if err := first(ctx.Err(), state.CheckLease(pool, gateway, ttl)); err != nil {
		return state.Lease{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	h, taken := s.leases.get(now, pool)
	if !taken {
		last, _ := s.fences.get(now, pool)
		h = holder{gateway, max(last+1, uint64(max(0, now.UnixMicro())))}
	}
	if h.gateway == gateway {
		s.leases.put(now, pool, h, len(pool)+len(gateway), ttl)
		s.fences.put(now, pool, h.fence, len(pool), state.MaxTTL)
	}
	return state.Lease{Held: h.gateway == gateway, Holder: h.gateway, Fence: h.fence}, nil
}

// Release frees the lease if it is the gateway's.
func (s *Store) Release(ctx context.Context, pool, gateway string) error {
	if err := first(ctx.Err(), state.CheckMember(pool, gateway)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.leases.get(s.clock(), pool); ok && h.gateway == gateway {
		s.leases.remove(pool)
	}
	return nil
}

// PublishPlan makes the plan the latest one.
func (s *Store) PublishPlan(ctx context.Context, pool, strategy string, plan state.Plan, ttl time.Duration) error {
	if err := first(ctx.Err(), state.CheckPlan(pool, strategy, plan, ttl)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	id := name{pool, strategy}
	last, _ := s.plans.get(now, id)
	fence, _ := s.fences.get(now, pool)
	fence = max(fence, last.plan.Fence)
	if plan.Version <= last.plan.Version || plan.Fence < fence {
		return fmt.Errorf("publish plan of %s: version %d under fence %d after version %d and fence %d: %w",
			strategy, plan.Version, plan.Fence, last.plan.Version, fence, state.ErrStale)
	}
	plan.Bytes = copied(plan.Bytes)
	s.plans.put(now, id, published{now, plan}, len(plan.Bytes), ttl)
	return nil
}

// LatestPlan returns the latest plan if its version is above known.
func (s *Store) LatestPlan(ctx context.Context, pool, strategy string, known uint64) (state.Plan, bool, error) {
	if err := first(ctx.Err(), state.CheckStrategy(pool, strategy)); err != nil {
		return state.Plan{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	p, ok := s.plans.get(now, name{pool, strategy})
	if !ok || p.plan.Version <= known {
		return state.Plan{}, false, nil
	}
	p.plan.Bytes, p.plan.Age = copied(p.plan.Bytes), max(0, now.Sub(p.at))
	return p.plan, true, nil
}
