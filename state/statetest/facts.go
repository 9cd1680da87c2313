package statetest

import (
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
)

func keys(numbers ...uint64) []router.FactKey {
	var keys []router.FactKey
	for _, n := range numbers {
		keys = append(keys, router.FactKey{Family: "home", Key: n})
	}
	return keys
}

func write(key uint64, value string, ttl time.Duration) router.Write {
	return router.Write{Fact: router.Fact{FactKey: keys(key)[0], Value: []byte(value)}, TTL: ttl}
}

// read returns the facts found as text: KEY=VALUE, in the order of the answer.
func read(t *testing.T, s state.Store, pool string, keys []router.FactKey) string {
	t.Helper()
	facts, err := s.Facts(t.Context(), pool, keys)
	must(t, err)
	var text []string
	for _, f := range facts {
		text = append(text, string(rune('a'+f.Key))+"="+string(f.Value))
	}
	return strings.Join(text, " ")
}

func factsShared(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	must(t, a.Write(ctx, "pool", []router.Write{
		write(1, "one", minute), write(2, "", minute), write(4, "old", minute), write(4, "new", minute),
	}))
	if got, want := read(t, b, "pool", keys(4, 3, 2, 1)), "e=new c= b=one"; got != want {
		t.Errorf("facts are %q, want %q: those found, in the order asked for, the last write of each", got, want)
	}
	must(t, b.Write(ctx, "pool", []router.Write{write(1, strings.Repeat("x", state.MaxFact), minute)}))
	if got := read(t, a, "pool", keys(1)); len(got) != len("b=")+state.MaxFact {
		t.Errorf("a fact of the largest size came back with %d bytes", len(got)-len("b="))
	}
	must(t, a.Write(ctx, "pool", nil))
	if got := read(t, a, "pool", nil) + read(t, a, "other", keys(1)); got != "" {
		t.Errorf("facts of no key and of another pool are %q, want none", got)
	}
	other := []router.FactKey{{Family: "lane", Key: 1}}
	if got := read(t, a, "pool", other); got != "" {
		t.Errorf("a fact of another family is %q, want none", got)
	}
}

func factsExpire(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	must(t, a.Write(ctx, "pool", []router.Write{write(1, "x", minute), write(2, "y", minute)}))
	must(t, a.Write(ctx, "pool", []router.Write{write(1, "x", soon)}))
	h.Pass(t, func() bool { return read(t, b, "pool", keys(1, 2)) == "c=y" })
	must(t, a.Write(ctx, "pool", []router.Write{write(2, "y", time.Nanosecond)}))
	h.Pass(t, func() bool { return read(t, b, "pool", keys(1, 2)) == "" })
}

func factsRefused(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	big := strings.Repeat("x", state.MaxFact+1)
	for name, w := range map[string]router.Write{
		"too large":       write(1, big, minute),
		"without life":    write(1, "x", 0),
		"with a past":     write(1, "x", -minute),
		"with a long one": write(1, "x", state.MaxTTL+1),
		"without family":  {Fact: router.Fact{FactKey: router.FactKey{Key: 1}}, TTL: minute},
	} {
		if err := s.Write(ctx, "pool", []router.Write{write(2, "good", minute), w}); err == nil {
			t.Errorf("a fact %s was accepted", name)
		}
	}
	if got := read(t, s, "pool", keys(1, 2)); got != "" {
		t.Errorf("refused writes left %q", got)
	}
	if err := s.Write(ctx, "", []router.Write{write(1, "x", minute)}); err == nil {
		t.Error("a pool without name was accepted")
	}
	if err := s.Write(ctx, "pool", make([]router.Write, state.MaxFacts+1)); err == nil {
		t.Error("more than MaxFacts writes were accepted")
	}
	if _, err := s.Facts(ctx, "pool", make([]router.FactKey, state.MaxFacts+1)); err == nil {
		t.Error("more than MaxFacts keys were accepted")
	}
	if _, err := s.Facts(ctx, strings.Repeat("p", state.MaxName+1), keys(1)); err == nil {
		t.Error("a pool with a long name was accepted")
	}
}

// namesDoNotMix holds names that differ only in what a store could use to
// separate or to escape them.
func namesDoNotMix(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	names := []string{
		"a", "a:b", "a%3Ab", "{a}", "a}", "}a", "{", "*", "a b", "a+b", "a\x00b", "a\n", "\xff", "ä", "org/model:7b@v1",
	}
	for i, name := range names {
		w := router.Write{Fact: router.Fact{FactKey: router.FactKey{Family: name, Key: 1}, Value: []byte{byte(i)}}, TTL: minute}
		must(t, s.Write(ctx, name, []router.Write{w}))
		must(t, s.PutSnapshot(ctx, name, name, []byte{byte(i)}, minute))
		lease, err := s.Lease(ctx, name, name, minute)
		must(t, err)
		if !lease.Held || lease.Holder != name {
			t.Errorf("lease of pool %q is %+v, want held by %q", name, lease, name)
		}
		must(t, s.PublishPlan(ctx, name, name, state.Plan{Version: 1, Fence: lease.Fence, Bytes: []byte{byte(i)}}, minute))
	}
	for i, name := range names {
		facts, err := s.Facts(ctx, name, []router.FactKey{{Family: name, Key: 1}})
		must(t, err)
		if len(facts) != 1 || facts[0].Value[0] != byte(i) {
			t.Errorf("facts of pool and family %q are %v, want its own", name, facts)
		}
		peers, err := s.Peers(ctx, name, "me")
		must(t, err)
		if len(peers) != 1 || peers[0].Gateway != name || peers[0].Snapshot[0] != byte(i) {
			t.Errorf("peers of pool %q are %v, want its own", name, peers)
		}
		plan, ok, err := s.LatestPlan(ctx, name, name, 0)
		must(t, err)
		if !ok || plan.Bytes[0] != byte(i) {
			t.Errorf("plan of pool and strategy %q is %v, want its own", name, plan)
		}
	}
}
