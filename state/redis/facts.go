package redis

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/state"
)

func (s *Store) fact(pool string, k router.FactKey) string {
	return s.key(pool, "fact", k.Family, fmt.Sprintf("%016x", k.Key))
}

// Facts returns the facts found, at once if the server does not answer.
func (s *Store) Facts(ctx context.Context, pool string, keys []router.FactKey) ([]router.Fact, error) {
	if err := state.CheckKeys(pool, keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	if err := s.circuit.allow(ctx); err != nil {
		return nil, err
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = s.fact(pool, k)
	}
	values, err := ride(ctx, s.lane, s.timeout, func(ctx context.Context) ([]part, error) {
		return s.ask(ctx, names, lineFact+state.MaxFact+1)
	})
	s.circuit.note(ctx, err)
	if err != nil {
		return nil, fmt.Errorf("redis: read facts of pool %s: %w", pool, err)
	}
	var found []router.Fact
	var damaged []error
	for i, v := range values {
		value, err := v.fact(names[i])
		if err != nil {
			damaged = append(damaged, err)
		}
		if value != nil {
			found = append(found, router.Fact{FactKey: keys[i], Value: value})
		}
	}
	return found, errors.Join(damaged...)
}

// fact is the value without its line, or nil if it is absent.
func (p part) fact(key string) ([]byte, error) {
	if p.err != nil || p.text == "" {
		return nil, p.err
	}
	if len(p.text) > lineFact+state.MaxFact {
		return nil, wrong(key, "is too large")
	}
	return cut(key, []byte(p.text), nil)
}

// Write stores facts, or fails at once if the server does not answer.
func (s *Store) Write(ctx context.Context, pool string, writes []router.Write) error {
	if err := state.CheckWrites(pool, writes); err != nil || len(writes) == 0 {
		return err
	}
	if err := s.circuit.allow(ctx); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	pipe := s.client.Pipeline()
	for _, w := range writes {
		pipe.Set(short, s.fact(pool, w.FactKey), line()+string(w.Value), whole(w.TTL))
	}
	_, err := pipe.Exec(short)
	s.circuit.note(ctx, err)
	if err != nil {
		return fmt.Errorf("redis: write facts of pool %s: %w", pool, err)
	}
	return nil
}
