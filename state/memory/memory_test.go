package memory_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/memory"
	"gatewayd/state/statetest"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func TestConformance(t *testing.T) {
	statetest.Run(t, func(*testing.T) statetest.Harness {
		c := &clock{now: time.Unix(1_700_000_000, 0)}
		s := memory.New(memory.Options{Clock: c.Now})
		return statetest.Harness{
			Open: func(*testing.T) state.Store { return s },
			Pass: func(t *testing.T, until func() bool) {
				for range 100 {
					if until() {
						return
					}
					c.Advance(time.Millisecond)
				}
				t.Fatal("the condition did not hold within 100 ms of the store's time")
			},
		}
	})
}

func TestAgesAreExact(t *testing.T) {
	c := &clock{now: time.Unix(0, 0)}
	s, ctx := memory.New(memory.Options{Clock: c.Now}), t.Context()
	if err := s.PutSnapshot(ctx, "pool", "a", nil, time.Second); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		by   time.Duration
		want string
	}{
		{0, "[{a [] 0s}]"},
		{999 * time.Millisecond, "[{a [] 999ms}]"},
		{-1500 * time.Millisecond, "[{a [] 0s}]"}, // a clock that is set back gives no negative age
		{1501 * time.Millisecond, "[]"},
	} {
		c.Advance(step.by)
		peers, err := s.Peers(ctx, "pool", "b")
		if got := fmt.Sprint(peers); got != step.want || err != nil {
			t.Errorf("after %v more the peers are %s, %v, want %s", step.by, got, err, step.want)
		}
	}
}

func TestWhatExpiresFirstIsDroppedWhenFull(t *testing.T) {
	s, ctx := memory.New(memory.Options{MaxBytes: 10_000}), t.Context()
	var keys []router.FactKey
	for i := range 1000 {
		key := router.FactKey{Family: "f", Key: uint64(i)}
		keys = append(keys, key)
		ttl := time.Hour - time.Duration(i%7)*time.Minute
		if err := s.Write(ctx, "pool", []router.Write{{Fact: router.Fact{FactKey: key, Value: make([]byte, 67)}, TTL: ttl}}); err != nil {
			t.Fatal(err)
		}
	}
	facts, err := s.Facts(ctx, "pool", keys)
	if err != nil || len(facts) != 50 {
		t.Fatalf("%d facts of 200 bytes are left in 10000 bytes (error %v), want 50", len(facts), err)
	}
	for _, f := range facts {
		if f.Key%7 != 0 {
			t.Errorf("fact %d is left, which expires before others", f.Key)
		}
	}
}
