package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/redistest"
)

var home = []router.FactKey{{Family: "home", Key: 1}}

func remember(s *Store, ctx context.Context) error {
	return s.Write(ctx, "pool", []router.Write{{Fact: router.Fact{FactKey: home[0], Value: []byte("w1")}, TTL: time.Minute}})
}

// works reports whether every kind of call succeeds, writes before reads.
func works(t *testing.T, s *Store) error {
	ctx := t.Context()
	wrote := remember(s, ctx)
	put := s.PutSnapshot(ctx, "pool", "a", []byte("1"), time.Minute)
	lease, leased := s.Lease(ctx, "pool", "a", time.Minute)
	plan := state.Plan{Version: uint64(time.Now().UnixNano()), Fence: lease.Fence}
	published := s.PublishPlan(ctx, "pool", "x", plan, time.Minute)
	_, facts := s.Facts(ctx, "pool", home)
	_, peers := s.Peers(ctx, "pool", "b")
	_, _, latest := s.LatestPlan(ctx, "pool", "x", 0)
	released := s.Release(ctx, "pool", "a")
	return errors.Join(wrote, put, leased, published, facts, peers, latest, released)
}

func TestAServerThatIsAwayAtTheStart(t *testing.T) {
	url, server := redistest.Start(t)
	server.Stop(t)
	s := open(t, url, Options{})
	if err := works(t, s); err == nil {
		t.Fatal("calls succeed without a server")
	}
	if h := s.Health(); h.Up || h.Err == nil || h.Failed == 0 {
		t.Errorf("health without a server is %+v", h)
	}
	server.Restart(t)
	eventually(t, func() bool { return works(t, s) == nil })
	if h := s.Health(); !h.Up || h.Paused {
		t.Errorf("health with the server back is %+v", h)
	}
}

// TestRestart: the server comes back empty, and fences still grow.
func TestRestart(t *testing.T) {
	url, server := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	must(t, works(t, s))
	before, err := s.Lease(t.Context(), "pool", "a", time.Minute)
	must(t, err)
	server.Stop(t)
	server.Restart(t)
	after, err := s.Lease(t.Context(), "pool", "b", time.Minute)
	must(t, err) // at once: dead connections are replaced
	if !after.Held || after.Fence <= before.Fence {
		t.Errorf("after a loss of the content b got %+v, want a fence above %d", after, before.Fence)
	}
	must(t, works(t, s))
}

func TestFlushedScripts(t *testing.T) {
	url, server := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	for range 5 {
		must(t, works(t, s))
		if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var flusher sync.WaitGroup
	flusher.Go(func() {
		for ctx.Err() == nil {
			if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		must(t, works(t, s))
	}
	stop()
	flusher.Wait()
}

// TestFrozen: connections to a frozen server stay open and silent. Calls end
// with their contexts or limits, then Facts and Write fail at once, and after
// the thaw all works.
func TestFrozen(t *testing.T) {
	url, server := redistest.Start(t)
	s := open(t, url, Options{Failures: 3, Pause: 100 * time.Millisecond})
	eventually(t, func() bool { return works(t, s) == nil })
	server.Freeze(t)
	defer server.Thaw(t)
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := s.Facts(ctx, "pool", home); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("call %d of Facts gave %v, want the deadline", i, err)
		}
		cancel()
	}
	refused := 0
	eventually(t, func() bool { // most calls; the few that probe the server fail in another way
		if _, err := s.Facts(t.Context(), "pool", home); errors.Is(err, state.ErrUnavailable) {
			refused++
		}
		if err := remember(s, t.Context()); errors.Is(err, state.ErrUnavailable) {
			refused++
		}
		return refused >= 20
	})
	if h := s.Health(); h.Up || !h.Paused || h.Skipped < 20 {
		t.Errorf("health of a frozen server is %+v", h)
	}
	for name, call := range map[string]func(context.Context) error{
		"Peers":       func(ctx context.Context) error { _, err := s.Peers(ctx, "pool", "a"); return err },
		"PutSnapshot": func(ctx context.Context) error { return s.PutSnapshot(ctx, "pool", "a", nil, time.Minute) },
		"Now":         func(ctx context.Context) error { _, err := s.Now(ctx); return err },
	} {
		if err := call(t.Context()); err == nil { // ends by its own limit
			t.Errorf("%s succeeds on a frozen server", name)
		}
	}
	server.Thaw(t)
	eventually(t, func() bool { return works(t, s) == nil })
}

// TestFrozenCrowd: many requests during an outage neither wait nor connect
// without bound.
func TestFrozenCrowd(t *testing.T) {
	const connections = 4
	url, server := redistest.Start(t)
	s := open(t, url, Options{Connections: connections, Pause: 20 * time.Millisecond})
	eventually(t, func() bool { return works(t, s) == nil })
	crowd := func(budget time.Duration) {
		var group sync.WaitGroup
		for range 500 {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), budget)
				defer cancel()
				_, _ = s.Facts(ctx, "pool", home) // either way: it ends, or the test does not
			})
		}
		group.Wait()
	}
	server.Freeze(t)
	for range 5 {
		crowd(2 * time.Millisecond)
	}
	server.Thaw(t)
	crowd(time.Second)
	eventually(t, func() bool { return works(t, s) == nil })
	clients, err := s.client.ClientList(t.Context()).Result()
	must(t, err)
	open := 0
	for _, c := range clients {
		if c == '\n' {
			open++
		}
	}
	if open > connections {
		t.Errorf("%d connections are open after an outage, want at most %d:\n%s", open, connections, clients)
	}
}

// TestDemoted: a primary that became a replica refuses writes until it or
// another is primary again.
func TestDemoted(t *testing.T) {
	url, server := redistest.Start(t)
	s := open(t, url, Options{})
	eventually(t, func() bool { return works(t, s) == nil })
	if _, err := server.Do("REPLICAOF", "127.0.0.1", "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.PutSnapshot(t.Context(), "pool", "a", nil, time.Minute); err == nil {
		t.Error("a replica accepted a snapshot")
	}
	if err := remember(s, t.Context()); err == nil {
		t.Error("a replica accepted a fact")
	}
	if _, err := server.Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return works(t, s) == nil })
}

// TestClose: Close ends calls that wait for a frozen server.
func TestClose(t *testing.T) {
	url, server := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	must(t, works(t, s))
	server.Freeze(t)
	ended := make(chan error)
	go func() {
		_, err := s.Facts(t.Context(), "pool", home)
		ended <- err
	}()
	eventually(t, func() bool { return len(s.lane.slots) == 1 })
	must(t, s.Close())
	if err := <-ended; err == nil {
		t.Error("a call succeeded on a frozen server")
	}
	if err := works(t, s); err == nil {
		t.Error("a closed store works")
	}
	must(t, s.Close())
}

// TestUnderLoad: a crowd on a server that answers gets its answers.
func TestUnderLoad(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	must(t, remember(s, t.Context()))
	var group sync.WaitGroup
	for range 500 {
		group.Go(func() {
			facts, err := s.Facts(t.Context(), "pool", home)
			if got := fmt.Sprint(len(facts), err); got != "1 <nil>" {
				t.Error(got)
			}
		})
	}
	group.Wait()
}
