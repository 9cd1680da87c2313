package redis

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/redistest"
)

// TestWrongValues puts what gatewayd never writes under each of its keys. Reads
// report the key and find nothing, and writes put things right.
func TestWrongValues(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx := t.Context()
	good := line(1, 2, 3) // of a plan: of no other kind
	for name, put := range map[string]func(key string) error{
		"a list":         func(k string) error { return s.client.RPush(ctx, k, "x").Err() },
		"foreign text":   func(k string) error { return s.client.Set(ctx, k, "hello", time.Minute).Err() },
		"a foreign line": func(k string) error { return s.client.Set(ctx, k, "hello 1 2 3\nworld", time.Minute).Err() },
		"a cut line":     func(k string) error { return s.client.Set(ctx, k, good[:len(good)-2], time.Minute).Err() },
		"a short number": func(k string) error { return s.client.Set(ctx, k, "g1 1\nx", time.Minute).Err() },
		"no number": func(k string) error {
			return s.client.Set(ctx, k, "g1 "+strings.Repeat("x", digits)+"\nx", time.Minute).Err()
		},
		"zeros": func(k string) error { return s.client.Set(ctx, k, make([]byte, 1000), time.Minute).Err() },
		"a set": func(k string) error { return s.client.SAdd(ctx, k, "x").Err() },
	} {
		t.Run(name, func(t *testing.T) {
			must(t, s.client.FlushAll(ctx).Err())
			must(t, s.PutSnapshot(ctx, "pool", "b", []byte("good"), time.Minute))
			must(t, s.PutSnapshot(ctx, "pool", "c", []byte("good"), time.Minute))
			for _, key := range []string{
				s.fact("pool", home[0]), s.key("pool", "snapshot", "b"), s.key("pool", "lease"), s.key("pool", "fence"), s.key("pool", "plan", "x"),
			} {
				must(t, s.client.Del(ctx, key).Err())
				must(t, put(key))
			}
			facts, err := s.Facts(ctx, "pool", home)
			names(t, "Facts", err, s.fact("pool", home[0]))
			peers, err := s.Peers(ctx, "pool", "a")
			names(t, "Peers", err, s.key("pool", "snapshot", "b"))
			_, ok, err := s.LatestPlan(ctx, "pool", "x", 0)
			names(t, "LatestPlan", err, s.key("pool", "plan", "x"))
			if len(facts) != 0 || ok || len(peers) != 1 || string(peers[0].Snapshot) != "good" {
				t.Errorf("read facts %v, plan %v, peers %v; want only the good peer", facts, ok, peers)
			}
			if h := s.Health(); !h.Up || h.Failed != 0 {
				t.Errorf("health is %+v, but the server answers", h)
			}
			must(t, s.PutSnapshot(ctx, "pool", "b", []byte("good"), time.Minute))
			must(t, works(t, s))
			if peers, err := s.Peers(ctx, "pool", "z"); err != nil || len(peers) != 3 {
				t.Errorf("after writes the peers are %v, %v, want all three", peers, err)
			}
			if facts, err := s.Facts(ctx, "pool", home); err != nil || len(facts) != 1 {
				t.Errorf("after writes the facts are %v, %v, want one", facts, err)
			}
		})
	}
}

func names(t *testing.T, call string, err error, key string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), key) {
		t.Errorf("%s gave the error %v, want one that names the key %q", call, err, key)
	}
}

func TestWrongGateways(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx, key := t.Context(), s.key("pool", "gateways")
	must(t, s.client.Set(ctx, key, "x", 0).Err())
	_, err := s.Peers(ctx, "pool", "a")
	names(t, "Peers", err, key)
	must(t, s.PutSnapshot(ctx, "pool", "b", nil, time.Minute))
	if peers, err := s.Peers(ctx, "pool", "a"); err != nil || len(peers) != 1 {
		t.Errorf("peers are %v, %v, want b", peers, err)
	}
	checkKeys(t, s)
}

// TestTooLarge puts well-formed values of more than the bounds.
func TestTooLarge(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx := t.Context()
	must(t, s.PutSnapshot(ctx, "pool", "b", nil, time.Minute))
	snapshot, fact := s.key("pool", "snapshot", "b"), s.fact("pool", home[0])
	must(t, s.client.Set(ctx, snapshot, line(1)+strings.Repeat("x", state.MaxSnapshot+1), time.Minute).Err())
	must(t, s.client.Set(ctx, fact, line()+strings.Repeat("x", state.MaxFact+1), time.Minute).Err())
	if peers, err := s.Peers(ctx, "pool", "a"); len(peers) != 0 {
		t.Errorf("a snapshot above MaxSnapshot was read (error %v)", err)
	} else {
		names(t, "Peers", err, snapshot)
	}
	if facts, err := s.Facts(ctx, "pool", home); len(facts) != 0 {
		t.Errorf("a fact above MaxFact was read (error %v)", err)
	} else {
		names(t, "Facts", err, fact)
	}
	largest := make([]byte, state.MaxSnapshot)
	must(t, s.PutSnapshot(ctx, "pool", "b", largest, time.Minute))
	if peers, err := s.Peers(ctx, "pool", "a"); err != nil || len(peers) != 1 || len(peers[0].Snapshot) != len(largest) {
		t.Errorf("a snapshot of MaxSnapshot bytes was not read back: %d peers, %v", len(peers), err)
	}
}

// TestReplacedWhileRead has a reader in the middle of a large plan when the
// next one is published.
func TestReplacedWhileRead(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx, key := t.Context(), s.key("pool", "plan", "x")
	plan := func(version uint64, letter string) {
		t.Helper()
		bytes := []byte(strings.Repeat(letter, 3*partBytes))
		must(t, s.PublishPlan(ctx, "pool", "x", state.Plan{Version: version, Bytes: bytes}, time.Minute))
	}
	plan(1, "a")
	first, err := s.first(ctx, key)
	must(t, err)
	plan(2, "b")
	var numbers [3]uint64
	body, err := s.read(ctx, key, first, planShape, numbers[:])
	must(t, err)
	if got := strings.Trim(string(body), "b"); got != "" || len(body) != 3*partBytes || numbers[0] != 2 {
		t.Errorf("read version %d with %d bytes, %d of them not its own", numbers[0], len(body), len(got))
	}
	must(t, s.client.Del(ctx, key).Err())
	if body, err := s.read(ctx, key, first, planShape, numbers[:]); body != nil || err != nil {
		t.Errorf("a plan that went while it was read gave %d bytes, %v, want nothing", len(body), err)
	}
}

// TestLostAnswer asks again for what was done: as the client does when a
// connection breaks before the answer.
func TestLostAnswer(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx := t.Context()
	keys := []string{s.key("pool", "plan", "x"), s.key("pool", "fence"), s.key("pool", "aside")}
	first := line(7, 1, 2)
	must(t, s.set(ctx, keys[2], first, nil, time.Minute))
	for range 2 {
		answer, err := s.run(ctx, promoteScript, keys, number(7), number(1), first)
		if err != nil || answer[0] != "ok" {
			t.Errorf("promote gave %v, %v, want ok each time", answer, err)
		}
	}
	answer, err := s.run(ctx, promoteScript, keys, number(8), number(1), line(8, 1, 2))
	if err != nil || answer[0] != "lost" {
		t.Errorf("promote of a plan that is not there gave %v, %v, want lost", answer, err)
	}
}

// TestOvertaken has a publisher that was admitted and then overtaken, by a
// version or by a holder of the lease.
func TestOvertaken(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	ctx := t.Context()
	promote := func(version, fence uint64) string {
		t.Helper()
		keys := []string{s.key("pool", "plan", "x"), s.key("pool", "fence"), s.key("pool", "aside")}
		first := line(version, fence, 3)
		must(t, s.set(ctx, keys[2], first, nil, time.Minute))
		answer, err := s.run(ctx, promoteScript, keys, number(version), number(fence), first)
		must(t, err)
		if left := s.client.Exists(ctx, keys[2]).Val(); left != 0 {
			t.Errorf("a plan aside is left after the answer %v", answer)
		}
		return answer[0]
	}
	for _, step := range []struct {
		version, fence uint64
		want           string
	}{{7, 5, "ok"}, {6, 5, "stale"}, {8, 4, "stale"}, {8, 5, "ok"}} {
		if got := promote(step.version, step.fence); got != step.want {
			t.Errorf("version %d under fence %d: %s, want %s", step.version, step.fence, got, step.want)
		}
	}
	_, err := s.Lease(ctx, "pool", "b", time.Minute)
	must(t, err)
	if got := promote(9, 5); got != "stale" {
		t.Errorf("a plan of before the lease: %s, want stale", got)
	}
}

// TestCrowd: the list of gateways is bounded, too.
func TestCrowd(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	for i := range state.MaxGateways + 10 {
		must(t, s.PutSnapshot(t.Context(), "pool", fmt.Sprint(i), nil, time.Minute))
	}
	if n := s.client.ZCard(t.Context(), s.key("pool", "gateways")).Val(); n != state.MaxGateways {
		t.Errorf("the list has %d gateways, want %d", n, state.MaxGateways)
	}
}

// TestShortLife: a time to live below the server's unit is no error.
func TestShortLife(t *testing.T) {
	for give, want := range map[time.Duration]time.Duration{
		1: time.Millisecond, time.Millisecond: time.Millisecond, time.Millisecond + 1: 2 * time.Millisecond,
	} {
		if got := whole(give); got != want {
			t.Errorf("%v is rounded to %v, want %v", give, got, want)
		}
	}
}

// TestManyFacts: the keys of many facts have a time to live and no index
// grows beside them.
func TestManyFacts(t *testing.T) {
	url, _ := redistest.Start(t)
	s := open(t, url, Options{Timeout: patience})
	var writes []router.Write
	for i := range state.MaxFacts {
		writes = append(writes, router.Write{Fact: router.Fact{FactKey: router.FactKey{Family: "home", Key: uint64(i)}}, TTL: time.Minute})
	}
	must(t, s.Write(context.WithoutCancel(t.Context()), "pool", writes))
	if keys := scan(t, s); len(keys) != state.MaxFacts {
		t.Errorf("%d facts are %d keys", state.MaxFacts, len(keys))
	}
	checkKeys(t, s)
}
