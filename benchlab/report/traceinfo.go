package report

import (
	"encoding/json"
	"io"
	"math"

	"gatewayd/benchlab/trace"
)

// TraceInfo is what a trace holds. Numbers are rounded as the names' digits below
// say; what a format does not have is left out.
type TraceInfo struct {
	Name        string `json:"name"`
	Origin      string `json:"origin,omitempty"`
	SHA256      string `json:"sha256"`
	Format      string `json:"format"`
	Bytes       int64  `json:"bytes"`     // of the file
	RawBytes    int64  `json:"raw_bytes"` // unpacked
	Rows        int    `json:"rows"`
	BlockTokens int    `json:"block_size"`
	Scope       string `json:"block_scope"`
	Partial     string `json:"partial_block"`
	Ceil        *bool  `json:"hash_ids_is_ceil,omitempty"`

	Arrivals *Arrivals          `json:"arrivals,omitempty"` // nil without a common clock
	Input    Lengths            `json:"input"`
	Output   Lengths            `json:"output"`
	InTotal  int                `json:"total_input_tokens"`
	OutTotal int                `json:"total_output_tokens"`
	Cache    CacheBound         `json:"infinite_cache"`
	LRU      map[string]float64 `json:"lru_single_cache_block_hit,omitempty"` // by blocks of the cache
	Roots    *Roots             `json:"roots,omitempty"`
	Sessions SessionInfo        `json:"sessions"`
	Passages *Passages          `json:"passages,omitempty"`
	*Sheet                      // of a CSV file
	*Agents                     // of Claude Code sessions
	Notes    []string           `json:"notes"`
}

// Arrivals sums up arrival times.
type Arrivals struct {
	Span      float64 `json:"span_s"`
	Rate      float64 `json:"rate_per_s"`
	Distinct  int     `json:"distinct_timestamps"`
	GapCV     float64 `json:"interarrival_cv"`
	ZeroGaps  float64 `json:"zero_interarrival_share"`
	IDC1      float64 `json:"idc_1s"`
	IDC10     float64 `json:"idc_10s"`
	IDC60     float64 `json:"idc_60s"`
	Monotonic bool    `json:"monotonic"` // in the file
	Tick      float64 `json:"tick_s"`    // of the recorder; 0 if none is seen
}

// Lengths sums up token counts.
type Lengths struct {
	Mean float64 `json:"mean"`
	P10  int     `json:"p10"`
	P50  int     `json:"p50"`
	P90  int     `json:"p90"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
}

// Times sums up times or shares.
type Times struct {
	Mean float64 `json:"mean"`
	P10  float64 `json:"p10"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// CacheBound is what one prefix cache that never evicts would serve, within the
// scope of the trace's ids.
type CacheBound struct {
	TokenHit       float64  `json:"token_hit"`
	BlockHit       float64  `json:"block_hit"`
	BlockRefs      int      `json:"block_refs"`
	DistinctBlocks int      `json:"distinct_blocks"`
	AnyHit         float64  `json:"requests_any_hit"`
	Hit90          float64  `json:"requests_ge90pct_hit"`
	Unchained      int      `json:"unchained_ids"`
	PrefixHit      *float64 `json:"prefix_order_token_hit,omitempty"`         // of prompts made of parts: TokenHit
	ContentHit     *float64 `json:"position_independent_token_hit,omitempty"` // if order did not matter
}

// Roots says how prompts begin.
type Roots struct {
	FirstBlocks int     `json:"distinct_first_block"`
	FirstTwo    int     `json:"distinct_first_two"`
	TopFirst    float64 `json:"top10_first_block_share"`
	TopFirstTwo float64 `json:"top10_first_two_share"`
}

// Passages counts retrieved passages.
type Passages struct {
	Distinct int     `json:"distinct"`
	Refs     int     `json:"refs"`
	TopShare float64 `json:"top10_share"`
}

// Sheet is what a CSV file says besides its rows.
type Sheet struct {
	CRLF  bool   `json:"crlf"`
	First string `json:"first,omitempty"` // timestamp as written
	Last  string `json:"last,omitempty"`
}

// WriteJSON writes the figures as indented JSON.
func (t *TraceInfo) WriteJSON(w io.Writer) error { return writeJSON(w, t) }

// SessionInfo counts the sessions that are recorded or inferred. Where sessions
// are the rows of a file it is their number alone.
type SessionInfo struct {
	Count     int
	Inferred  bool
	Plain     bool // the number alone
	MultiTurn int
	MaxTurns  int
	TurnsP99  int
	MeanTurns float64
	InMulti   float64
	FollowUps float64
	Gaps      Times // s
}

// MarshalJSON writes a number or an object.
func (s SessionInfo) MarshalJSON() ([]byte, error) {
	if s.Plain {
		return json.Marshal(s.Count)
	}
	o := map[string]any{
		"count": s.Count, "multi_turn": s.MultiTurn, "turns_max": s.MaxTurns, "turns_mean": round(s.MeanTurns, 3),
		"turns_p99": s.TurnsP99, "requests_in_multi_turn_share": s.InMulti, "requests_with_parent_share": s.FollowUps,
	}
	if s.Inferred {
		o["inferred_sessions"], o["multi_turn_sessions"], o["turns_per_session_mean"] = s.Count, s.MultiTurn, round(s.MeanTurns, 2)
	}
	if s.FollowUps > 0 {
		o["gap_s"] = s.Gaps
	}
	return json.Marshal(o)
}

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

func lengths(d trace.Distribution[int]) Lengths {
	return Lengths{round(d.Mean, 2), d.P10, d.P50, d.P90, d.P99, d.Max}
}

func times(d trace.Distribution[float64], digits int) Times {
	r := func(x float64) float64 { return round(x, digits) }
	return Times{round(d.Mean, 2), r(d.P10), r(d.P50), r(d.P90), r(d.P99), r(d.Max)}
}
