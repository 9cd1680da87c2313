package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gatewayd/state"
)

var planShape = shape{linePlan, state.MaxPlan}

// PublishPlan writes the plan aside and then puts it in the place of the last.
func (s *Store) PublishPlan(ctx context.Context, pool, strategy string, plan state.Plan, ttl time.Duration) error {
	if err := state.CheckPlan(pool, strategy, plan, ttl); err != nil {
		return err
	}
	if err := s.publish(ctx, pool, strategy, plan, ttl); err != nil {
		return fmt.Errorf("redis: publish plan of %s: %w", strategy, err)
	}
	return nil
}

func (s *Store) publish(ctx context.Context, pool, strategy string, plan state.Plan, ttl time.Duration) error {
	keys := []string{s.key(pool, "plan", strategy), s.key(pool, "fence")}
	version, fence := number(plan.Version), number(plan.Fence)
	answer, err := s.run(ctx, admitScript, keys, version, fence)
	if err != nil {
		return err
	}
	if err := refused(answer, plan); err != nil {
		return err
	}
	now, err := strconv.ParseUint(answer[1], 10, 64)
	if err != nil {
		return fmt.Errorf("time of the server: %w", err)
	}
	aside, first := s.key(pool, "aside", strategy, rand.Text()), line(plan.Version, plan.Fence, now)
	if err := s.set(ctx, aside, first, plan.Bytes, ttl); err != nil {
		return err
	}
	answer, err = s.run(ctx, promoteScript, append(keys, aside), version, fence, first)
	if err != nil {
		return err
	}
	return refused(answer, plan)
}

// refused is the error in an answer of admit or promote.
func refused(answer []string, plan state.Plan) error {
	switch answer[0] {
	case "stale":
		version, _ := strconv.ParseUint(answer[1], 10, 64)
		fence, _ := strconv.ParseUint(answer[2], 10, 64)
		return fmt.Errorf("version %d under fence %d after version %d and fence %d: %w",
			plan.Version, plan.Fence, version, fence, state.ErrStale)
	case "lost":
		return errors.New("the server lost it meanwhile; publish it again")
	}
	return nil
}

// LatestPlan reads the plan's first line, and the plan if it is new.
func (s *Store) LatestPlan(ctx context.Context, pool, strategy string, known uint64) (state.Plan, bool, error) {
	if err := state.CheckStrategy(pool, strategy); err != nil {
		return state.Plan{}, false, err
	}
	plan, err := s.newer(ctx, s.key(pool, "plan", strategy), known)
	if err != nil {
		return state.Plan{}, false, fmt.Errorf("redis: read plan of %s: %w", strategy, err)
	}
	return plan, plan.Version > known, nil
}

func (s *Store) newer(ctx context.Context, key string, known uint64) (state.Plan, error) {
	answer, err := s.run(ctx, latestScript, []string{key})
	if err != nil || answer[1] == "" {
		return state.Plan{}, err
	}
	var numbers [3]uint64
	if _, err := cut(key, []byte(answer[1]), numbers[:]); err != nil || numbers[0] <= known {
		return state.Plan{}, err
	}
	now, err := strconv.ParseUint(answer[0], 10, 64)
	if err != nil {
		return state.Plan{}, fmt.Errorf("time of the server: %w", err)
	}
	first, err := s.first(ctx, key)
	if err != nil {
		return state.Plan{}, err
	}
	body, err := s.read(ctx, key, first, planShape, numbers[:])
	if err != nil || body == nil {
		return state.Plan{}, err
	}
	return state.Plan{Version: numbers[0], Fence: numbers[1], Bytes: body, Age: age(now, numbers[2])}, nil
}
