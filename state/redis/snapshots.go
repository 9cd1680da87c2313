package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatewayd/state"
)

var snapshotShape = shape{lineSnap, state.MaxSnapshot}

// PutSnapshot enters the gateway among the pool's gateways and sets its value.
func (s *Store) PutSnapshot(ctx context.Context, pool, gateway string, snapshot []byte, ttl time.Duration) error {
	if err := state.CheckSnapshot(pool, gateway, snapshot, ttl); err != nil {
		return err
	}
	answer, err := s.run(ctx, enterScript, []string{s.key(pool, "gateways")},
		gateway, whole(ttl).Milliseconds(), state.MaxGateways)
	if err != nil {
		return fmt.Errorf("redis: enter gateway %s: %w", gateway, err)
	}
	now, err := strconv.ParseUint(answer[0], 10, 64)
	if err != nil {
		return fmt.Errorf("redis: enter gateway %s: time of the server: %w", gateway, err)
	}
	if err := s.set(ctx, s.key(pool, "snapshot", gateway), line(now), snapshot, ttl); err != nil {
		return fmt.Errorf("redis: put snapshot of gateway %s: %w", gateway, err)
	}
	return nil
}

// Peers returns the snapshots of all gateways but self.
func (s *Store) Peers(ctx context.Context, pool, self string) ([]state.Peer, error) {
	if err := state.CheckMember(pool, self); err != nil {
		return nil, err
	}
	answer, err := s.run(ctx, membersScript, []string{s.key(pool, "gateways")}, state.MaxGateways)
	if err != nil {
		return nil, fmt.Errorf("redis: list gateways of pool %s: %w", pool, err)
	}
	now, err := strconv.ParseUint(answer[0], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("redis: list gateways of pool %s: time of the server: %w", pool, err)
	}
	names := slices.DeleteFunc(answer[1:], func(name string) bool { return name == self })
	slices.Sort(names)
	var peers []state.Peer
	var damaged []error
	for group := range slices.Chunk(names, together) {
		keys := make([]string, len(group))
		for i, name := range group {
			keys[i] = s.key(pool, "snapshot", name)
		}
		firsts, err := s.parts(ctx, keys, partBytes)
		if err != nil {
			return peers, fmt.Errorf("redis: read snapshots of pool %s: %w", pool, errors.Join(append(damaged, err)...))
		}
		for i, first := range firsts {
			var at [1]uint64
			snapshot, err := s.read(ctx, keys[i], first, snapshotShape, at[:])
			if err != nil {
				damaged = append(damaged, err)
			} else if snapshot != nil {
				peers = append(peers, state.Peer{Gateway: group[i], Snapshot: snapshot, Age: age(now, at[0])})
			}
		}
	}
	return peers, errors.Join(damaged...)
}

// age is the time between two times of the server in microseconds, at least 0.
func age(now, then uint64) time.Duration {
	return time.Duration(max(0, int64(now-then))) * time.Microsecond
}
