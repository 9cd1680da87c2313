package engine

import (
	"errors"
	"fmt"
	"math"
)

// Bounds of a Profile: wide enough for any machine, narrow enough that no sum
// in the model overflows.
const (
	maxCoefficient = 1e5
	maxKVBlocks    = 1 << 24
	maxBlockTokens = 1 << 14
	maxStepTokens  = 1 << 22
	maxContext     = 1 << 30
)

// Validate reports every figure that no machine can have: not finite,
// negative, or zero where time or space must be spent.
func (p *Profile) Validate() error {
	q := p.withDefaults()
	return errors.Join(
		positive(p, "weights_ms", q.WeightsMS),
		positive(p, "token_us", q.TokenUS),
		notNegative(p, "decode_ms", Known(q.DecodeMS)),
		notNegative(p, "decode_seq_ms", Known(q.DecodeSeqMS)),
		notNegative(p, "decode_kctx_ms", Known(q.DecodeKctxMS)),
		notNegative(p, "prefill_quadratic_us", Known(q.QuadUS)),
		notNegative(p, "overhead_ms", q.OverheadMS),
		notNegative(p, "overhead_seq_ms", q.OverheadSeqMS),
		notNegative(p, "power.idle_w", q.Power.IdleW),
		notNegative(p, "power.base_w", q.Power.BaseW),
		notNegative(p, "power.range_w", q.Power.RangeW),
		positive(p, "power.knee_seqs", q.Power.KneeSeqs.Or(1)),
		within(p, "block_tokens", q.BlockTokens, 1, maxBlockTokens),
		within(p, "kv_blocks", q.KVBlocks, 1, maxKVBlocks),
		within(p, "max_seqs", q.MaxSeqs, 1, maxStepTokens),
		within(p, "max_batched_tokens", q.MaxBatchedTokens, q.MaxSeqs, maxStepTokens),
		within(p, "max_context", q.MaxContext, 0, maxContext),
	)
}

// withDefaults returns the profile with its zero limits replaced.
func (p *Profile) withDefaults() Profile {
	q := *p
	if q.BlockTokens == 0 {
		q.BlockTokens = DefaultBlockTokens
	}
	if q.MaxSeqs == 0 {
		q.MaxSeqs = DefaultMaxSeqs
	}
	if q.MaxBatchedTokens == 0 {
		q.MaxBatchedTokens = max(DefaultMaxBatchedTokens, q.MaxSeqs)
	}
	return q
}

func positive(p *Profile, field string, value float64) error {
	if value > 0 && value <= maxCoefficient {
		return nil
	}
	return fmt.Errorf("engine profile %q: %s is %v, want above 0 and at most %v", p.Name, field, value, maxCoefficient)
}

func notNegative(p *Profile, field string, figure Figure) error {
	value := figure.Or(0)
	if value >= 0 && value <= maxCoefficient && !math.IsNaN(value) {
		return nil
	}
	return fmt.Errorf("engine profile %q: %s is %v, want 0 to %v", p.Name, field, value, maxCoefficient)
}

func within(p *Profile, field string, value, least, most int) error {
	if value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("engine profile %q: %s is %d, want %d to %d", p.Name, field, value, least, most)
}
