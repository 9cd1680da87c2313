package report

import "gatewayd/benchlab/trace"

// Agents is what Claude Code sessions hold.
type Agents struct {
	PerSession   SessionCache   `json:"infinite_cache_per_session"`
	SessionHits  Times          `json:"per_session_hit"` // hit blocks over blocks
	Models       map[string]int `json:"models"`          // sessions that name them
	Requests     Lengths        `json:"requests_per_session"`
	Subagents    int            `json:"subagents"`
	SystemTokens Lengths        `json:"system_tokens"`
	ToolTokens   Lengths        `json:"tool_tokens"`
	Think        Times          `json:"think_time_s"`
	Monotonic    bool           `json:"t_monotonic_per_session"`
}

// SessionCache is what a cache that never evicts serves inside sessions.
type SessionCache struct {
	BlockHit float64 `json:"block_hit"`
	TokenHit float64 `json:"token_hit"`
}

func agents(t *trace.Trace, in *trace.Info) *Agents {
	f := &t.Facts
	if len(f.Models) == 0 {
		return nil
	}
	var thinks []float64
	for _, d := range f.Thinks {
		thinks = append(thinks, d.Seconds())
	}
	return &Agents{
		PerSession:  SessionCache{round(in.Reuse.BlockHit, 5), round(in.Reuse.TokenHit, 4)},
		SessionHits: times(in.Reuse.PerSession, 4),
		Models:      f.Models, Requests: lengths(in.Sessions.Turns), Subagents: f.Subagents,
		SystemTokens: lengths(distribution(f.SystemTokens)), ToolTokens: lengths(distribution(f.ToolTokens)),
		Think: times(trace.NewDistribution(thinks), 3), Monotonic: !t.File.Unordered,
	}
}

// distribution leaves the values in their order.
func distribution(values []int) trace.Distribution[int] {
	return trace.NewDistribution(append([]int(nil), values...))
}
