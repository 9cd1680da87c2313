// Package memory is the store of a gateway that works alone, and of several
// gateways in one process, which then share one Store. It behaves as the store
// in Redis does and loses everything with the process.
package memory

import (
	"context"
	"sync"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
)

// Options are a store's settings; the zero value works.
type Options struct {
	// Clock is the store's clock; nil means time.Now.
	Clock func() time.Time
	// MaxBytes bounds the memory of the facts, of the snapshots and of the
	// plans, each; beyond it, what expires first is dropped. 0 means 256 MiB.
	MaxBytes int
}

// Store implements state.Store.
type Store struct {
	clock func() time.Time

	mu        sync.Mutex
	facts     *table[factID, []byte]
	snapshots *table[name, stamped]
	leases    *table[string, holder]
	fences    *table[string, uint64]
	plans     *table[name, published]
}

var _ state.Store = (*Store)(nil)

type factID struct {
	pool string
	router.FactKey
}

// name is a gateway or a strategy of a pool.
type name struct{ pool, of string }

type stamped struct {
	at    time.Time
	bytes []byte
}

// New makes an empty store.
func New(o Options) *Store {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 256 << 20
	}
	return &Store{
		clock:     o.Clock,
		facts:     newTable[factID, []byte](o.MaxBytes),
		snapshots: newTable[name, stamped](o.MaxBytes),
		leases:    newTable[string, holder](o.MaxBytes),
		fences:    newTable[string, uint64](o.MaxBytes),
		plans:     newTable[name, published](o.MaxBytes),
	}
}

// Now returns the time by the store's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.clock(), ctx.Err() }

// Health is always good.
func (s *Store) Health() state.Health { return state.Health{Up: true} }

// Close does nothing: other gateways may use the store still.
func (s *Store) Close() error { return nil }

// Facts returns the facts found.
func (s *Store) Facts(ctx context.Context, pool string, keys []router.FactKey) ([]router.Fact, error) {
	if err := first(ctx.Err(), state.CheckKeys(pool, keys)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	var found []router.Fact
	for _, k := range keys {
		if v, ok := s.facts.get(now, factID{pool, k}); ok {
			found = append(found, router.Fact{FactKey: k, Value: copied(v)})
		}
	}
	return found, nil
}

// Write stores facts.
func (s *Store) Write(ctx context.Context, pool string, writes []router.Write) error {
	if err := first(ctx.Err(), state.CheckWrites(pool, writes)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	for _, w := range writes {
		id := factID{pool, w.FactKey}
		s.facts.put(now, id, copied(w.Value), len(pool)+len(w.Family)+len(w.Value), w.TTL)
	}
	return nil
}

// copied returns a copy that is never nil.
func copied(b []byte) []byte { return append([]byte{}, b...) }

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
