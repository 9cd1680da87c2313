package redis

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gatewayd/state"
	"gatewayd/state/redistest"
	"gatewayd/state/statetest"
)

func TestConformance(t *testing.T) {
	url, _ := redistest.Start(t)
	conform(t, url)
}

// TestConformanceCluster also shows that no call spans slots: a Cluster refuses
// such calls even if one server has all of them.
func TestConformanceCluster(t *testing.T) {
	address, _ := redistest.StartCluster(t)
	conform(t, "redis://"+address+"?cluster=true")
}

func TestConformanceSentinel(t *testing.T) {
	primary, _ := redistest.StartTCP(t)
	sentinel, _ := redistest.StartSentinel(t, "main", primary)
	conform(t, "redis://"+sentinel+"?master_name=main")
}

// conform runs the kit, each test in a namespace of its own, and then looks at
// what it left: every key has a time to live and is in its pool's slot.
func conform(t *testing.T, url string) {
	var tests atomic.Int64
	statetest.Run(t, func(t *testing.T) statetest.Harness {
		namespace := fmt.Sprintf("test%d", tests.Add(1))
		return statetest.Harness{
			Open: func(t *testing.T) state.Store { return open(t, url, Options{Namespace: namespace, Timeout: patience}) },
			Pass: eventually,
		}
	})
	checkKeys(t, open(t, url, Options{}))
}

// patience is a limit for calls that must not fail on a slow machine.
const patience = 30 * time.Second

func open(t *testing.T, url string, o Options) *Store {
	t.Helper()
	s, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// eventually waits until a condition holds.
func eventually(t *testing.T, until func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !until() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the condition did not hold within %v", patience)
		}
	}
}

// checkKeys fails if a key has no time to live, or if there is no key.
func checkKeys(t *testing.T, s *Store) {
	t.Helper()
	keys := scan(t, s)
	if len(keys) == 0 {
		t.Error("the server has no keys: nothing was checked")
	}
	for _, k := range keys {
		if ttl, err := s.client.PTTL(t.Context(), k).Result(); err != nil || ttl == -1 || ttl > state.MaxTTL {
			t.Errorf("key %q has the time to live %v (error %v), want one of at most %v", k, ttl, err, state.MaxTTL)
		}
	}
}

func scan(t *testing.T, s *Store) []string {
	t.Helper()
	var keys []string
	cursor := s.client.Scan(t.Context(), 0, "*", 1000).Iterator()
	for cursor.Next(t.Context()) {
		keys = append(keys, cursor.Val())
	}
	if err := cursor.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
