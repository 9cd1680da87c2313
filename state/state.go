package state

import (
	"context"
	"errors"
	"time"

	"gatewayd/pkg/router"
)

// ErrStale refuses a plan: a newer one is stored, or its publisher has lost
// the lease since.
var ErrStale = errors.New("plan is stale")

// ErrUnavailable refuses a call at once because the store did not answer the
// last ones; it is asked again after a short pause.
var ErrUnavailable = errors.New("store is unavailable")

// Store is everything that gateways share. It is safe for concurrent use. The
// caller owns the slices that it gives and the slices that it gets. Each
// gateway of a fleet has a name that no other living process uses.
type Store interface {
	Facts
	Snapshots
	Leases
	Plans

	// Now returns the time by the store's clock.
	Now(ctx context.Context) (time.Time, error)
	// Health says how the store does; it does not wait.
	Health() Health
	// Close releases what this store holds in this process, not what is shared.
	Close() error
}

// Facts are small values that strategies leave for all gateways. Both calls
// may be made while a request waits, so they honour short deadlines.
type Facts interface {
	// Facts returns the facts found, in the order of their keys. With an error
	// it returns those that could be read.
	Facts(ctx context.Context, pool string, keys []router.FactKey) ([]router.Fact, error)
	// Write stores facts, each for its time to live; of two with one key the
	// later wins. After an error some may be stored.
	Write(ctx context.Context, pool string, writes []router.Write) error
}

// Snapshots are the gateways' own estimates, one packed value per gateway.
type Snapshots interface {
	// PutSnapshot replaces the gateway's snapshot. It vanishes after ttl, and
	// with it the gateway from its peers' view.
	PutSnapshot(ctx context.Context, pool, gateway string, snapshot []byte, ttl time.Duration) error
	// Peers returns the snapshots of all gateways but self, ordered by gateway.
	// With an error it returns those that could be read.
	Peers(ctx context.Context, pool, self string) ([]Peer, error)
}

// Peer is another gateway and its snapshot.
type Peer struct {
	Gateway  string
	Snapshot []byte
	Age      time.Duration // >= 0, from the start of the put
}

// Leases decide which gateway plans for a pool.
type Leases interface {
	// Lease takes the pool's lease if it is free, and renews it if it is the
	// gateway's. The answer names the holder in any case.
	Lease(ctx context.Context, pool, gateway string, ttl time.Duration) (Lease, error)
	// Release frees the lease if it is the gateway's.
	Release(ctx context.Context, pool, gateway string) error
}

// Lease tells who may plan.
type Lease struct {
	Held   bool   // by the gateway that asked
	Holder string // who holds it
	// Fence numbers the holders: it grows with every change, and as it is never
	// below the store's clock in microseconds since 1970, also when the store
	// lost its content.
	Fence uint64
}

// Plans hand the holder's plans to the other gateways.
type Plans interface {
	// PublishPlan makes the plan the latest one of the pool's strategy, for ttl.
	// It fails with ErrStale, and changes nothing, if the stored version is not
	// lower, or if a higher fence was seen in the pool's lease or in the stored
	// plan. Concurrent publishers are put in order.
	PublishPlan(ctx context.Context, pool, strategy string, plan Plan, ttl time.Duration) error
	// LatestPlan returns the latest plan if its version is above known, else
	// false; that answer is cheap.
	LatestPlan(ctx context.Context, pool, strategy string, known uint64) (Plan, bool, error)
}

// Plan is a published plan, encoded.
type Plan struct {
	// Version is > 0 and grows with every plan of the strategy. A holder that
	// continues from the highest of the latest version and its own fence grows
	// it also when the store lost its content.
	Version uint64
	Fence   uint64 // of the lease under which it was made
	Bytes   []byte
	Age     time.Duration // of a plan that was read: >= 0, from the start of its publication
}

// Health is the state of the connection to the store.
type Health struct {
	Up      bool   // the last call that reached for the store got an answer; false before the first
	Paused  bool   // Facts and Write fail at once with ErrUnavailable
	Failed  uint64 // calls that got no usable answer
	Skipped uint64 // calls refused with ErrUnavailable
	Err     error  // the last failure, nil if there was none
}
