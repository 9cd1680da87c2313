package report

import (
	"fmt"
	"io"
	"strings"

	"gatewayd/benchlab/trace"
)

// TraceInfo is what a trace holds.
type TraceInfo struct {
	Name        string     `json:"name"`
	Origin      string     `json:"origin,omitempty"`
	SHA256      string     `json:"sha256"`
	Format      string     `json:"format"`
	Rows        int        `json:"rows"`
	BlockTokens int        `json:"block_size"`
	Scope       string     `json:"block_scope"`
	Partial     string     `json:"partial_block"`
	Arrivals    Arrivals   `json:"arrivals"`
	Input       Lengths    `json:"input"`
	Output      Lengths    `json:"output"`
	Cache       CacheBound `json:"infinite_cache"`
	Sessions    Sessions   `json:"sessions"`
	Notes       []string   `json:"notes"`
}

// Arrivals sums up arrival times.
type Arrivals struct {
	Span     float64 `json:"span_s"`
	Rate     float64 `json:"rate_per_s"`
	Distinct int     `json:"distinct_timestamps"`
	GapCV    float64 `json:"interarrival_cv"`
	Tick     float64 `json:"tick_s"` // of the recorder; 0 if none is seen
}

// Lengths sums up token counts.
type Lengths struct {
	Mean float64 `json:"mean"`
	P50  int     `json:"p50"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
}

// CacheBound is what one prefix cache that never evicts would serve.
type CacheBound struct {
	BlockRefs      int     `json:"block_refs"`
	DistinctBlocks int     `json:"distinct_blocks"`
	BlockHit       float64 `json:"block_hit"`
	TokenHit       float64 `json:"token_hit"`
	Unchained      int     `json:"unchained_ids"`
}

// Sessions counts the sessions that are recorded or inferred.
type Sessions struct {
	Count     int     `json:"count"`
	MultiTurn int     `json:"multi_turn"`
	MaxTurns  int     `json:"turns_max"`
	FollowUps float64 `json:"requests_with_parent_share"`
}

// NewTraceInfo sums up a trace whose file has the given checksum.
func NewTraceInfo(t *trace.Trace, sha256 string) TraceInfo {
	in := t.Info()
	length := func(l trace.Lengths) Lengths { return Lengths(l) }
	return TraceInfo{
		Name: t.Name, Origin: t.Origin, SHA256: sha256, Format: t.Format,
		Rows: in.Rows, BlockTokens: t.BlockTokens, Scope: t.Scope.String(), Partial: t.Partial.String(),
		Arrivals: Arrivals{in.Span.Seconds(), in.RatePerS, in.DistinctTimes, in.GapCV, in.Tick.Seconds()},
		Input:    length(in.Input), Output: length(in.Output),
		Cache:    CacheBound{in.Reuse.BlockRefs, in.Reuse.DistinctBlocks, in.Reuse.BlockHit, in.Reuse.TokenHit, in.Reuse.Unchained},
		Sessions: Sessions(in.Sessions),
		Notes:    append([]string{}, t.Notes...),
	}
}

// WriteJSON writes the figures as indented JSON.
func (t *TraceInfo) WriteJSON(w io.Writer) error { return writeJSON(w, t) }

// WriteText writes the figures for people.
func (t *TraceInfo) WriteText(w io.Writer) error {
	var b strings.Builder
	entry(&b, "trace", fmt.Sprintf("%s (%s), %s requests", t.Name, t.Format, thousands(t.Rows)),
		t.Origin, "sha256 "+t.SHA256, strings.Join(t.Notes, "; "))
	a := &t.Arrivals
	tick := "none"
	if a.Tick > 0 {
		tick = fmt.Sprintf("%.3f s", a.Tick)
	}
	entry(&b, "arrivals", fmt.Sprintf("%.1f s, %.4f req/s, coefficient of variation of gaps %.2f", a.Span, a.Rate, a.GapCV),
		fmt.Sprintf("%s distinct times, recorder's tick: %s", thousands(a.Distinct), tick))
	for _, l := range []struct {
		name string
		Lengths
	}{{"prompts", t.Input}, {"answers", t.Output}} {
		entry(&b, l.name, fmt.Sprintf("tokens: mean %.2f, p50 %s, p99 %s, max %s", l.Mean, thousands(l.P50), thousands(l.P99), thousands(l.Max)))
	}
	c := &t.Cache
	entry(&b, "blocks", fmt.Sprintf("of %d tokens, ids compared over: %s, %s", t.BlockTokens, t.Scope, t.Partial),
		fmt.Sprintf("%s in all, %s distinct, %d ids under two predecessors", thousands(c.BlockRefs), thousands(c.DistinctBlocks), c.Unchained))
	entry(&b, "caching", fmt.Sprintf("a cache that never evicts serves %.5f of the blocks, %.5f of the prompt tokens", c.BlockHit, c.TokenHit))
	s := &t.Sessions
	entry(&b, "sessions", fmt.Sprintf("%s, %s of them with follow-ups, at most %d turns; %.1f %% of the requests follow up",
		thousands(s.Count), thousands(s.MultiTurn), s.MaxTurns, s.FollowUps*100))
	_, err := io.WriteString(w, b.String())
	return err
}
