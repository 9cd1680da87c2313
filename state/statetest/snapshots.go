package statetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
)

// seen returns what a gateway sees of its peers as text: NAME=SNAPSHOT.
func seen(t *testing.T, s state.Store, self string) string {
	t.Helper()
	peers, err := s.Peers(t.Context(), "pool", self)
	must(t, err)
	var text []string
	for _, p := range peers {
		if p.Age < 0 {
			t.Errorf("age of the snapshot of %s is %v", p.Gateway, p.Age)
		}
		text = append(text, p.Gateway+"="+string(p.Snapshot))
	}
	return strings.Join(text, " ")
}

func snapshotsShared(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	if got := seen(t, a, "a"); got != "" {
		t.Errorf("an empty store has peers %q", got)
	}
	must(t, a.PutSnapshot(ctx, "pool", "c", []byte("3"), minute))
	must(t, a.PutSnapshot(ctx, "pool", "a", []byte("old"), minute))
	must(t, a.PutSnapshot(ctx, "pool", "a", []byte("1"), minute))
	must(t, b.PutSnapshot(ctx, "pool", "b", nil, minute))
	must(t, b.PutSnapshot(ctx, "other", "d", []byte("4"), minute))
	for self, want := range map[string]string{"a": "b= c=3", "b": "a=1 c=3", "z": "a=1 b= c=3"} {
		if got := seen(t, b, self); got != want {
			t.Errorf("%s sees %q, want %q: all but itself, by name, the newest of each", self, got, want)
		}
	}
	large := bytes.Repeat([]byte("0123456789abcde"), 1<<16)
	must(t, a.PutSnapshot(ctx, "pool", "c", large, minute))
	peers, err := b.Peers(ctx, "pool", "b")
	must(t, err)
	if len(peers) != 2 || !bytes.Equal(peers[1].Snapshot, large) {
		t.Errorf("a snapshot of %d bytes came back changed", len(large))
	}
}

func snapshotsExpire(t *testing.T, h Harness) {
	a, b, ctx := h.Open(t), h.Open(t), t.Context()
	must(t, a.PutSnapshot(ctx, "pool", "a", []byte("1"), minute))
	must(t, b.PutSnapshot(ctx, "pool", "b", []byte("2"), minute))
	var age time.Duration
	h.Pass(t, func() bool {
		peers, err := b.Peers(ctx, "pool", "b")
		must(t, err)
		if len(peers) != 1 || peers[0].Age < age {
			t.Fatalf("peers are %+v after an age of %v; a living peer only grows older", peers, age)
		}
		age = peers[0].Age
		return age >= soon
	})
	must(t, a.PutSnapshot(ctx, "pool", "a", []byte("1"), soon))
	h.Pass(t, func() bool { return seen(t, b, "z") == "b=2" })
	must(t, a.PutSnapshot(ctx, "pool", "a", []byte("back"), minute))
	if got, want := seen(t, b, "z"), "a=back b=2"; got != want {
		t.Errorf("after a return the peers are %q, want %q", got, want)
	}
}

func snapshotsCrowded(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	for i := range state.MaxGateways {
		must(t, s.PutSnapshot(ctx, "pool", fmt.Sprintf("g%03d", i), nil, minute+time.Duration(i)*time.Second))
	}
	must(t, s.PutSnapshot(ctx, "pool", "last", nil, 2*time.Hour))
	peers, err := s.Peers(ctx, "pool", "me")
	must(t, err)
	if len(peers) != state.MaxGateways || peers[0].Gateway != "g001" || peers[len(peers)-1].Gateway != "last" {
		t.Errorf("%d peers, %s to %s; want %d, without the one that expires first",
			len(peers), peers[0].Gateway, peers[len(peers)-1].Gateway, state.MaxGateways)
	}
}

func snapshotsRefused(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	if err := s.PutSnapshot(ctx, "pool", "a", make([]byte, state.MaxSnapshot+1), minute); err == nil {
		t.Error("a snapshot above MaxSnapshot was accepted")
	}
	if err := s.PutSnapshot(ctx, "pool", "a", nil, 0); err == nil {
		t.Error("a snapshot without time to live was accepted")
	}
	if err := s.PutSnapshot(ctx, "pool", "", nil, minute); err == nil {
		t.Error("a gateway without name was accepted")
	}
	if _, err := s.Peers(ctx, "", "a"); err == nil {
		t.Error("a pool without name was accepted")
	}
	if got := seen(t, s, "z"); got != "" {
		t.Errorf("refused snapshots left peers %q", got)
	}
}

func callersOwnBytes(t *testing.T, h Harness) {
	s, ctx := h.Open(t), t.Context()
	mine := []byte("mine")
	w := write(1, "", minute)
	w.Value = mine
	must(t, s.Write(ctx, "pool", []router.Write{w}))
	must(t, s.PutSnapshot(ctx, "pool", "a", mine, minute))
	must(t, s.PublishPlan(ctx, "pool", "x", state.Plan{Version: 1, Bytes: mine}, minute))
	for range 2 {
		copy(mine, "XXXX")
		facts, err := s.Facts(ctx, "pool", keys(1))
		must(t, err)
		peers, err := s.Peers(ctx, "pool", "z")
		must(t, err)
		plan, _, err := s.LatestPlan(ctx, "pool", "x", 0)
		must(t, err)
		for _, got := range [][]byte{facts[0].Value, peers[0].Snapshot, plan.Bytes} {
			if string(got) != "mine" {
				t.Errorf("the store holds %q: a caller's change reached it", got)
			}
			copy(got, "XXXX")
		}
	}
}
