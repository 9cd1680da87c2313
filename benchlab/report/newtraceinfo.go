package report

import (
	"strconv"

	"gatewayd/benchlab/trace"
)

// NewTraceInfo sums up a trace as it was read, whose file has the given checksum.
// Sessions that are not recorded are inferred.
func NewTraceInfo(t *trace.Trace, sha256 string) TraceInfo {
	whole := t.InferSessions(0)
	in := whole.Info()
	i := TraceInfo{
		Name: t.Name, Origin: t.Origin, SHA256: sha256, Format: t.Format, Bytes: t.File.Bytes, RawBytes: t.File.RawBytes,
		Rows: in.Rows, BlockTokens: t.BlockTokens, Scope: t.Scope.String(), Partial: t.Partial.String(),
		Input: lengths(in.Input), Output: lengths(in.Output), InTotal: in.Input.Sum, OutTotal: in.Output.Sum,
		Cache: cacheBound(&in.Reuse), Sessions: sessions(&in.Sessions), Agents: agents(t, &in),
		Notes: append([]string{}, whole.Notes...),
	}
	i.Sessions.Inferred, i.Sessions.Plain = whole != t, i.Agents != nil
	if t.Clock {
		i.Arrivals = arrivals(&in.Arrivals)
	}
	if t.File.CRLF || t.Facts.First != "" {
		i.Sheet = &Sheet{t.File.CRLF, t.Facts.First, t.Facts.Last}
	}
	if p := t.Facts.Parts; p != nil {
		prefix, content := round(p.PrefixHit, 5), round(p.ContentHit, 5)
		i.Cache.TokenHit, i.Cache.PrefixHit, i.Cache.ContentHit = prefix, &prefix, &content
		i.Passages = &Passages{p.Passages, p.PassageRefs, round(p.TopPassagesShare, 3)}
	}
	if t.Scope == trace.ScopeGlobal {
		ceil := t.Partial == trace.PartialCounted
		i.Ceil, i.Roots, i.LRU = &ceil, roots(&in.Reuse.Roots), lru(t)
	}
	return i
}

func arrivals(a *trace.Arrivals) *Arrivals {
	return &Arrivals{
		Span: round(a.Span.Seconds(), 3), Rate: round(a.RatePerS, 4), Distinct: a.Distinct, GapCV: round(a.GapCV, 2),
		ZeroGaps: round(a.ZeroGaps, 4), IDC1: round(a.IDC[0], 2), IDC10: round(a.IDC[1], 2), IDC60: round(a.IDC[2], 2),
		Monotonic: !a.Unordered, Tick: a.Tick.Seconds(),
	}
}

func cacheBound(u *trace.Reuse) CacheBound {
	return CacheBound{
		TokenHit: round(u.TokenHit, 5), BlockHit: round(u.BlockHit, 5), BlockRefs: u.BlockRefs, DistinctBlocks: u.DistinctBlocks,
		AnyHit: round(u.AnyHit, 4), Hit90: round(u.Hit90, 4), Unchained: u.Unchained,
	}
}

func roots(r *trace.Roots) *Roots {
	return &Roots{r.FirstBlocks, r.FirstTwo, round(r.TopFirst, 3), round(r.TopFirstTwo, 3)}
}

func sessions(s *trace.Sessions) SessionInfo {
	return SessionInfo{
		Count: s.Count, MultiTurn: s.MultiTurn, MaxTurns: s.Turns.Max, TurnsP99: s.Turns.P99, MeanTurns: s.Turns.Mean,
		InMulti: round(s.InMulti, 4), FollowUps: round(s.FollowUps, 4), Gaps: times(s.Gaps, 3),
	}
}

// lru is what one cache serves that evicts what was not used for longest, for
// capacities from less than a worker's to more than a fleet's.
func lru(t *trace.Trace) map[string]float64 {
	capacities := []int{500, 2000, 10000, 50000}
	out := map[string]float64{}
	for i, hit := range t.LRUHit(capacities...) {
		out[strconv.Itoa(capacities[i])] = round(hit, 5)
	}
	return out
}
