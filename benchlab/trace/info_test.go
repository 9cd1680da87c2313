package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// The golden numbers were computed from the same file by an independent program.
func TestDefaultTraceHasItsKnownNumbers(t *testing.T) {
	in := mustDefault(t).InferSessions(0).Info()
	for _, c := range []struct {
		what      string
		got, want float64
		digits    int
	}{
		{"rows", float64(in.Rows), 7851, 0},
		{"span s", in.Arrivals.Span.Seconds(), 2397, 3},
		{"rate per s", in.Arrivals.RatePerS, 3.2753, 4},
		{"distinct times", float64(in.Arrivals.Distinct), 800, 0},
		{"gap CV", in.Arrivals.GapCV, 2.97, 2},
		{"tick s", in.Arrivals.Tick.Seconds(), 3, 3},
		{"input mean", in.Input.Mean, 12427.96, 2},
		{"input p50", float64(in.Input.P50), 7284, 0},
		{"input p99", float64(in.Input.P99), 89869, 0},
		{"input max", float64(in.Input.Max), 124847, 0},
		{"output mean", in.Output.Mean, 347.08, 2},
		{"output p50", float64(in.Output.P50), 356, 0},
		{"output p99", float64(in.Output.P99), 1170, 0},
		{"output max", float64(in.Output.Max), 2000, 0},
		{"block references", float64(in.Reuse.BlockRefs), 194284, 0},
		{"distinct blocks", float64(in.Reuse.DistinctBlocks), 126103, 0},
		{"block hit", in.Reuse.BlockHit, 0.35093, 5},
		{"token hit", in.Reuse.TokenHit, 0.35765, 5},
		{"first block share", in.Reuse.Roots.CommonFirst, 1, 5},
		{"unchained ids", float64(in.Reuse.Unchained), 0, 0},
		{"sessions", float64(in.Sessions.Count), 5376, 0},
		{"multi-turn sessions", float64(in.Sessions.MultiTurn), 1318, 0},
		{"longest session", float64(in.Sessions.Turns.Max), 30, 0},
		{"follow-ups", in.Sessions.FollowUps, 0.3152, 4},
	} {
		if scale := math.Pow10(c.digits); math.Round(c.got*scale) != math.Round(c.want*scale) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestDefaultTraceIsTheFileItsReadmeNames(t *testing.T) {
	sum := sha256.Sum256([]byte(conversation))
	readme, err := os.ReadFile("data/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), hex.EncodeToString(sum[:])) {
		t.Errorf("data/README.md does not name the embedded file's sha256 %x", sum)
	}
	if tr := mustDefault(t); tr.Origin == "" || len(tr.Notes) != 1 || tr.Requests[0].At != 0 {
		t.Errorf("origin %q, notes %q, first arrival %v", tr.Origin, tr.Notes, tr.Requests[0].At)
	}
}

func TestInfoOfTinyTraces(t *testing.T) {
	if in := at().Info(); in != (Info{}) {
		t.Errorf("empty trace: %+v", in)
	}
	in := at(5).Info()
	if in.Rows != 1 || in.Arrivals != (Arrivals{Distinct: 1}) || in.Input.Count != 1 || in.Sessions != (Sessions{}) {
		t.Errorf("one row: %+v", in)
	}
}

func TestInfoReuseByHand(t *testing.T) {
	tr := &Trace{BlockTokens: 10, Requests: []Request{
		{Input: 25, Blocks: []uint64{1, 2, 3}},
		{Input: 25, Blocks: []uint64{1, 2, 3}}, // 25 tokens hit, though the blocks hold 30
		{Input: 30, Blocks: []uint64{1, 7, 3}}, // only the first leads; 3 now follows 7
		{Input: 10, Blocks: []uint64{8}},
	}}
	want := Reuse{BlockRefs: 10, DistinctBlocks: 5, BlockHit: 0.4, TokenHit: 35.0 / 90, AnyHit: 0.5, Hit90: 0.25, Unchained: 1}
	want.Roots = Roots{FirstBlocks: 2, FirstTwo: 3, TopFirst: 1, TopFirstTwo: 1, CommonFirst: 0.75}
	if got := tr.Info().Reuse; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	tr.Scope = ScopeSession
	tr.Requests[1].Session = 2 // alone with its ids now
	want = Reuse{BlockRefs: 10, DistinctBlocks: 8, BlockHit: 0.1, TokenHit: 10.0 / 90, AnyHit: 0.25, Unchained: 1}
	want.PerSession = Distribution[float64]{Count: 1}
	want.Roots = Roots{FirstBlocks: 3, FirstTwo: 4, TopFirst: 1, TopFirstTwo: 1, CommonFirst: 0.5}
	if got := tr.Info().Reuse; got != want {
		t.Errorf("session scope: got %+v, want %+v", got, want)
	}
}

func TestInferSessionsByHand(t *testing.T) {
	tr := &Trace{BlockTokens: 10, Partial: PartialCounted, Requests: []Request{
		{Input: 25, Blocks: []uint64{0, 1, 100}},        // 1: full blocks 0 1
		{Input: 20, Blocks: []uint64{0, 2}},             // 2
		{Input: 41, Blocks: []uint64{0, 1, 3, 4, 5}},    // follows 1
		{Input: 30, Blocks: []uint64{0, 1, 6}},          // follows 1 too: a branch
		{Input: 55, Blocks: []uint64{0, 1, 3, 4, 7, 8}}, // longest prefix: the third
		{Input: 12, Blocks: []uint64{0, 101}},           // 3: one full block, shared by all
		{Input: 30, Blocks: []uint64{0, 101, 102}},      // 4: 101 was partial there
	}}
	got := tr.InferSessions(0)
	want := []uint64{1, 2, 1, 1, 1, 3, 4}
	for i, s := range want {
		if got.Requests[i].Session != s {
			t.Errorf("row %d: session %d, want %d", i, got.Requests[i].Session, s)
		}
	}
	if tr.Requests[0].Session != 0 {
		t.Error("InferSessions changed the trace it was given")
	}
	if got.InferSessions(0) != got {
		t.Error("known sessions were inferred again")
	}
	if n := tr.InferSessions(1).Info().Sessions.Count; n != 3 {
		t.Errorf("one block deep: %d sessions, want 3 (the last row joins the one before by block 0)", n)
	}
}

func TestScale(t *testing.T) {
	tr := at(0, 1000, 3001)
	fast, err := tr.Scale(2)
	if err != nil {
		t.Fatal(err)
	}
	if got := fast.Requests[2].At; got != 1500500*time.Microsecond {
		t.Errorf("last arrival %v", got)
	}
	if tr.Requests[2].At != 3001*time.Millisecond {
		t.Error("Scale changed the trace it was given")
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-12} {
		if _, err := tr.Scale(bad); err == nil {
			t.Errorf("scale by %v was accepted", bad)
		}
	}
}

func TestCut(t *testing.T) {
	tr := at(0, 1, 2)
	for rows, want := range map[int]int{-1: 0, 0: 0, 2: 2, 3: 3, 9: 3} {
		c := tr.Cut(rows)
		if len(c.Requests) != want || (c == tr) != (want == 3) {
			t.Errorf("cut to %d: %d rows, notes %q", rows, len(c.Requests), c.Notes)
		}
	}
	c := tr.Cut(1)
	c.Requests = append(c.Requests, Request{Line: 99})
	if tr.Requests[1].Line != 2 {
		t.Error("appending to a cut trace wrote into the whole one")
	}
}
