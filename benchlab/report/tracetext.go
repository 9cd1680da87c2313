package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the figures for people.
func (t *TraceInfo) WriteText(w io.Writer) error {
	var b strings.Builder
	entry(&b, "trace", append([]string{fmt.Sprintf("%s (%s), %s requests", t.Name, t.Format, thousands(t.Rows)),
		t.Origin, "sha256 " + t.SHA256}, t.Notes...)...)
	if a := t.Arrivals; a != nil {
		tick := "none"
		if a.Tick > 0 {
			tick = fmt.Sprintf("%.3f s", a.Tick)
		}
		entry(&b, "arrivals", fmt.Sprintf("%.1f s, %.4f req/s, coefficient of variation of gaps %.2f", a.Span, a.Rate, a.GapCV),
			fmt.Sprintf("%s distinct times, recorder's tick: %s", thousands(a.Distinct), tick),
			fmt.Sprintf("variance over mean of arrivals in windows of 1, 10 and 60 s: %.2f, %.2f, %.2f", a.IDC1, a.IDC10, a.IDC60))
	} else {
		entry(&b, "arrivals", "no common clock")
	}
	for _, l := range []struct {
		name  string
		total int
		Lengths
	}{{"prompts", t.InTotal, t.Input}, {"answers", t.OutTotal, t.Output}} {
		entry(&b, l.name, fmt.Sprintf("tokens: mean %.2f, p10 %s, p50 %s, p90 %s, p99 %s, max %s; %s in all", l.Mean,
			thousands(l.P10), thousands(l.P50), thousands(l.P90), thousands(l.P99), thousands(l.Max), thousands(l.total)))
	}
	t.blocks(&b)
	t.sessions(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *TraceInfo) blocks(b *strings.Builder) {
	c := &t.Cache
	if c.BlockRefs == 0 {
		entry(b, "blocks", "none: the trace does not say which prompts have what in common")
		return
	}
	entry(b, "blocks", fmt.Sprintf("of %d tokens, ids compared over: %s, %s", t.BlockTokens, t.Scope, t.Partial),
		fmt.Sprintf("%s in all, %s distinct", thousands(c.BlockRefs), thousands(c.DistinctBlocks)))
	order := ""
	if c.ContentHit != nil {
		order = fmt.Sprintf("the parts of prompts: %.5f of their tokens as prefixes, %.5f if order did not matter", *c.PrefixHit, *c.ContentHit)
	}
	lru := ""
	if len(t.LRU) > 0 {
		lru = fmt.Sprintf("one that holds 500, 2,000, 10,000 or 50,000 blocks: %.5f, %.5f, %.5f, %.5f of the blocks",
			t.LRU["500"], t.LRU["2000"], t.LRU["10000"], t.LRU["50000"])
	}
	entry(b, "caching", fmt.Sprintf("a cache that never evicts serves %.5f of the blocks, %.5f of the prompt tokens", c.BlockHit, c.TokenHit), order,
		fmt.Sprintf("%.1f %% of the requests find something, %.1f %% find 90 %% of their prompt or more", 100*c.AnyHit, 100*c.Hit90), lru)
	if r := t.Roots; r != nil {
		entry(b, "beginnings", fmt.Sprintf("%s first blocks, the ten commonest begin %.1f %% of the prompts; %s beginnings of two blocks, the ten commonest %.1f %%",
			thousands(r.FirstBlocks), 100*r.TopFirst, thousands(r.FirstTwo), 100*r.TopFirstTwo))
	}
}

func (t *TraceInfo) sessions(b *strings.Builder) {
	s := &t.Sessions
	if s.Count == 0 {
		entry(b, "sessions", "none are known")
		return
	}
	gaps := ""
	if s.FollowUps > 0 {
		gaps = fmt.Sprintf("a follow-up comes %.1f s after the request before it in the median, p99 %.1f s", s.Gaps.P50, s.Gaps.P99)
	}
	entry(b, "sessions", fmt.Sprintf("%s, %s of them with follow-ups, at most %d turns; %.1f %% of the requests follow up",
		thousands(s.Count), thousands(s.MultiTurn), s.MaxTurns, s.FollowUps*100), gaps)
	if a := t.Agents; a != nil {
		entry(b, "agents", fmt.Sprintf("%d sub-agents; requests a session: mean %.2f, p50 %d, max %d", a.Subagents, a.Requests.Mean, a.Requests.P50, a.Requests.Max),
			fmt.Sprintf("client's delay: p50 %.1f s, p90 %.1f s, max %.0f s", a.Think.P50, a.Think.P90, a.Think.Max),
			fmt.Sprintf("tools: p50 %s tokens; system prompt: p50 %s", thousands(a.ToolTokens.P50), thousands(a.SystemTokens.P50)))
	}
}
