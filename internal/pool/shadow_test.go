package pool

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// shadowed is a set with a shadow of the given chain.
func shadowed(t *testing.T, chain ...StrategySpec) (*setWorld, *Shadow, *telemetry.Telemetry) {
	t.Helper()
	w := newSet(t, 2, []string{"m"}, spec("last", nil))
	cfg := setConfig(w.log, chain...)
	cfg.Trial = true
	set, err := NewSet(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	set.Update(w.fleet.Snapshot())
	out := telemetry.Off()
	s := NewShadow(set, out.Metrics.Shadow("chain"))
	t.Cleanup(s.Close)
	w.SetShadows(s)
	w.until("the strategies", func() bool { trouble, _ := set.Trouble(w.Set, nil); return trouble == "" && w.Processes()[0].Pid > 0 })
	return w, s, out
}

// A shadow with the same strategy agrees; its books follow the requests' real
// lives, and nothing of it is in the live set's metrics.
func TestShadowAgrees(t *testing.T) {
	w, s, out := shadowed(t, spec("last", nil))
	p := w.Pools()["m"]
	var running []*Assignment
	for i := range 5 {
		a, err := p.Acquire(t.Context(), router.Request{Key: uint64(i), PromptTokens: 64, Blocks: []uint64{7, 8}, BlockTokens: 32})
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, a)
		w.until("the shadow's decision", func() bool { return s.Report().Decisions == uint64(i+1) })
	}
	shadowPool := s.set.Pools()["m"]
	if n := shadowPool.Lives(); n != 5 {
		t.Errorf("%d requests run in the shadow, want 5", n)
	}
	r := s.Report()
	// All five went to one of two workers, and only the first prompt is new there.
	if r.Agreed != 5 || r.Missed != 0 || r.Dropped != 0 || r.PromptTokens != 320 || r.Computed != 64 || r.LiveComputed != 64 || r.Imbalance < 1.9 || r.Imbalance > 2.1 || r.LiveImbalance != r.Imbalance || fmt.Sprint(r.Chain) != "[last]" {
		t.Errorf("report %+v", r)
	}
	running[0].FirstToken()
	for _, a := range running {
		a.complete()
	}
	w.until("the shadow's requests to end", func() bool { return shadowPool.Lives() == 0 })
	if n := scrape(t, out.Metrics, "gatewayd_shadow_decisions_total", `agrees="true"`); n != 5 {
		t.Errorf("%v agreeing decisions are counted", n)
	}
	if n := scrape(t, w.cfg.Telemetry.Metrics, "gatewayd_decisions_total"); n != 5 {
		t.Errorf("%v live decisions are counted, want 5", n)
	}
}

// A shadow with other strategies goes its own way.
func TestShadowDiffers(t *testing.T) {
	w, s, out := shadowed(t) // two choices by least load
	p := w.Pools()["m"]
	for i := range 20 {
		a, err := p.Acquire(t.Context(), router.Request{PromptTokens: 10})
		if err != nil {
			t.Fatal(err)
		}
		defer a.complete()
		w.until("the shadow's decision", func() bool { return s.Report().Decisions == uint64(i+1) })
	}
	r := s.Report()
	if r.Agreed != 10 || r.LiveImbalance < 1.9 || r.Imbalance > 1.1 {
		t.Errorf("of 20 requests that all run, half belong elsewhere: %+v", r)
	}
	if own, live := scrape(t, out.Metrics, "gatewayd_shadow_imbalance_ratio", `choice="shadow"`), scrape(t, out.Metrics, "gatewayd_shadow_imbalance_ratio", `choice="live"`); own >= live {
		t.Errorf("imbalance %v against %v", own, live)
	}
}

// What a shadow cannot follow is dropped and counted; a closed one sees nothing,
// and no request waits for it.
func TestShadowIsBounded(t *testing.T) {
	w, s, out := shadowed(t)
	for range maxFollowed {
		s.room <- struct{}{}
	}
	take := func() {
		a, err := w.Pools()["m"].Acquire(t.Context(), router.Request{})
		if err != nil {
			t.Fatal(err)
		}
		a.complete()
	}
	take()
	if r := s.Report(); r.Dropped != 1 || r.Decisions != 0 || scrape(t, out.Metrics, "gatewayd_shadow_dropped_total") != 1 {
		t.Errorf("report %+v", r)
	}
	for range maxFollowed {
		<-s.room
	}
	s.set.Update(&fleet.Snapshot{}) // it has no pool any more
	take()
	w.until("a request without a pool to be dropped", func() bool { return s.Report().Dropped == 2 })
	s.Close()
	take()
	if r := s.Report(); r.Dropped != 2 || r.Decisions != 0 {
		t.Errorf("after its end: %+v", r)
	}
}

func TestShadowLoad(t *testing.T) {
	var l load
	now := time.Unix(0, 0)
	two := func(string) int { return 2 }
	if v := l.imbalance(two); v != 0 {
		t.Errorf("imbalance of nothing is %v", v)
	}
	for range 3 {
		l.take(now, "m", "a", &router.Request{})
	}
	l.take(now, "m", "b", &router.Request{})
	if v := l.imbalance(two); v != 1.5 {
		t.Errorf("imbalance of 3 and 1 is %v", v)
	}
	// A thousand half-lives later they count for nothing.
	l.take(now.Add(1000*shadowHalfLife), "m", "b", &router.Request{})
	if v := l.imbalance(two); v < 1.999 || v > 2 {
		t.Errorf("imbalance of one at b is %v", v)
	}
	r := &router.Request{PromptTokens: 100, Blocks: []uint64{1, 2, 3}, BlockTokens: 30}
	if first, again, part := l.take(now, "m", "a", r), l.take(now, "m", "a", r), l.take(now, "m", "a", &router.Request{PromptTokens: 100, Blocks: []uint64{1, 9, 3}, BlockTokens: 30}); first != 100 || again != 10 || part != 70 {
		t.Errorf("computed %d, then %d, and %d of a prompt that shares one block", first, again, part)
	}
	if other := l.take(now, "m", "b", r); other != 100 {
		t.Errorf("another worker computes %d", other)
	}
	for i := range uint64(3 * cacheBlocks) {
		l.use(i)
	}
	if n := len(l.young) + len(l.old); n > 2*cacheBlocks || !l.has(3*cacheBlocks-1) || l.has(1) {
		t.Errorf("%d blocks are kept", n)
	}
}
