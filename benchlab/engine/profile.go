package engine

import (
	"math"
	"time"
)

// Defaults of a Profile whose fields are zero; they are vLLM's.
const (
	DefaultBlockTokens      = 16
	DefaultMaxBatchedTokens = 8192
	DefaultMaxSeqs          = 256
)

// Profile says how fast one engine is and how much it holds. The duration of
// one step over B sequences, D of which decode, is in milliseconds
//
//	max(WeightsMS, TokenUS*m/1000) + OverheadMS + OverheadSeqMS*B
//	  + DecodeMS + DecodeSeqMS*D + DecodeKctxMS*sum(ctx)/1000
//	  + QuadUS/1000 * sum(n*(c + n/2))/1000
//
// with m = prefill tokens + D, ctx = context of a decoding sequence, its new
// token included, n = tokens of a prefill chunk and c = tokens of its sequence
// already in the cache. The maximum is the roofline: below WeightsMS/TokenUS
// tokens a step is bound by reading the weights, and prefill rides along free.
type Profile struct {
	Name   string `json:"name"`
	Model  string `json:"model"`
	GPU    string `json:"gpu"`
	GPUs   int    `json:"gpus"`   // tensor parallel size
	Source string `json:"source"` // where the figures come from

	WeightsMS     float64 `json:"weights_ms"`             // W: floor of a step, ms
	TokenUS       float64 `json:"token_us"`               // g: compute, us per new token
	DecodeMS      float64 `json:"decode_ms"`              // a0: ms per step
	DecodeSeqMS   float64 `json:"decode_seq_ms"`          // a1: ms per decoding sequence
	DecodeKctxMS  float64 `json:"decode_kctx_ms"`         // a2: ms per 1000 tokens of decoding context
	QuadUS        float64 `json:"prefill_quadratic_us"`   // q: us per prefill token and 1000 tokens before it
	OverheadMS    Figure  `json:"overhead_ms"`            // o: ms per step; counts as 0 when unknown
	OverheadSeqMS Figure  `json:"overhead_seq_ms"`        // s: ms per sequence; counts as 0 when unknown
	BlockTokens   int     `json:"block_tokens,omitempty"` // tokens per KV block; 0 is DefaultBlockTokens
	KVBlocks      int     `json:"kv_blocks"`              // KV blocks; 0 is unknown, which New refuses

	MaxBatchedTokens int `json:"max_batched_tokens,omitempty"` // tokens per step; 0 is DefaultMaxBatchedTokens
	MaxSeqs          int `json:"max_seqs,omitempty"`           // sequences per step; 0 is DefaultMaxSeqs
	MaxContext       int `json:"max_context,omitempty"`        // prompt and output tokens of a request; 0 is no limit

	// ReservePrompt has a request leave the queue only if all its tokens so far fit
	// the KV cache, as newer vLLM does by default (scheduler_reserve_full_isl).
	// Else its first chunk has to fit, and prefills may preempt each other.
	ReservePrompt bool `json:"reserve_prompt,omitempty"`

	Power Power `json:"power"`
}

// Power is the electrical power of all GPUs of an engine while it steps:
// BaseW + RangeW*(1-exp(-B/KneeSeqs)) watts at B sequences. The zero Power is
// unknown. IdleW is the power between steps; it is not part of the formula.
type Power struct {
	IdleW    Figure `json:"idle_w"`
	BaseW    Figure `json:"base_w"`
	RangeW   Figure `json:"range_w"`
	KneeSeqs Figure `json:"knee_seqs"`
}

// Watts returns the power of a step over seqs sequences, unknown when a
// coefficient is unknown.
func (p Power) Watts(seqs int) Figure {
	base, okBase := p.BaseW.Value()
	span, okSpan := p.RangeW.Value()
	knee, okKnee := p.KneeSeqs.Value()
	if !okBase || !okSpan || !okKnee {
		return Figure{}
	}
	return Known(base + float64(span*(1-math.Exp(-float64(seqs)/knee))))
}

// Load is what one step works on.
type Load struct {
	Decoding      int   // D: sequences that decode one token
	Prefilling    int   // sequences with a prefill chunk
	PrefillTokens int   // tokens of all chunks
	Context       int64 // sum of ctx over the decoding sequences, tokens
	Quad2         int64 // sum of n*(2c+n) over the chunks, tokens squared
}

// Seqs returns B, the sequences in the step.
func (l Load) Seqs() int { return l.Decoding + l.Prefilling }

// Step returns the duration of a step, rounded to nanoseconds; 0 for no load.
func (p *Profile) Step(l Load) time.Duration {
	if l.Seqs() == 0 {
		return 0
	}
	return nanoseconds(p.stepMS(l))
}

// nanoseconds rounds to the nearest, half up; ms is not negative.
func nanoseconds(ms float64) time.Duration { return time.Duration(float64(ms*1e6) + 0.5) }

// stepMS adds in a fixed order; the conversions forbid fused multiply-add, so
// that every architecture gives the same bits.
func (p *Profile) stepMS(l Load) float64 {
	ms := p.fixedMS(l)
	ms += p.contextMS(l)
	ms += float64(p.QuadUS * float64(l.Quad2) / 2e6)
	return ms
}

// fixedMS is the part of a step that does not depend on its sequences' contexts.
func (p *Profile) fixedMS(l Load) float64 {
	tokens := float64(l.PrefillTokens + l.Decoding)
	ms := max(p.WeightsMS, p.TokenUS*tokens/1000)
	ms += p.OverheadMS.Or(0)
	ms += float64(p.OverheadSeqMS.Or(0) * float64(l.Seqs()))
	ms += p.DecodeMS
	ms += float64(p.DecodeSeqMS * float64(l.Decoding))
	return ms
}

// contextMS is the part of the decoding sequences' contexts.
func (p *Profile) contextMS(l Load) float64 {
	return float64(p.DecodeKctxMS / 1000 * float64(l.Context))
}
