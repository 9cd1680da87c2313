package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gatewayd/state"
)

// Lease takes or renews the pool's lease.
func (s *Store) Lease(ctx context.Context, pool, gateway string, ttl time.Duration) (state.Lease, error) {
	if err := state.CheckLease(pool, gateway, ttl); err != nil {
		return state.Lease{}, err
	}
	answer, err := s.run(ctx, leaseScript, []string{s.key(pool, "lease"), s.key(pool, "fence")},
		gateway, whole(ttl).Milliseconds(), state.MaxTTL.Milliseconds())
	if err != nil {
		return state.Lease{}, fmt.Errorf("redis: lease pool %s: %w", pool, err)
	}
	fence, err := strconv.ParseUint(answer[1], 10, 64)
	if err != nil {
		return state.Lease{}, fmt.Errorf("redis: lease pool %s: fence: %w", pool, err)
	}
	return state.Lease{Held: answer[0] == gateway, Holder: answer[0], Fence: fence}, nil
}

// Release frees the lease if it is the gateway's.
func (s *Store) Release(ctx context.Context, pool, gateway string) error {
	if err := state.CheckMember(pool, gateway); err != nil {
		return err
	}
	if _, err := s.run(ctx, releaseScript, []string{s.key(pool, "lease")}, gateway); err != nil {
		return fmt.Errorf("redis: release pool %s: %w", pool, err)
	}
	return nil
}
