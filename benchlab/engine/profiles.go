package engine

import (
	"fmt"
	"strings"
)

// Sources of the built-in profiles.
const (
	operators = "vLLM kernel times of the AIConfigurator operator database (bf16), fitted to the step form; KV blocks estimated"
	measured  = operators + "; overheads and power from ML.ENERGY leaderboard measurements"
	realRun   = "fitted on one 300-request run of vLLM 0.19.0 with 2,048 batched tokens and 128 sequences; " +
		"a0 and a1 are part of W, o and s; KV capacity and power were not recorded"
)

// Profiles returns the built-in profiles, in a fixed order. The caller may
// change what it gets. The KV capacity of the two real runs is unknown: assume
// one (AssumeKVBlocks) before New.
func Profiles() []Profile {
	return []Profile{
		{
			Name: "llama-3.1-8b-h100", Model: "Llama-3.1-8B", GPU: "H100", GPUs: 1, Source: measured,
			WeightsMS: 5.943, TokenUS: 17.75, DecodeMS: 0.286, DecodeSeqMS: 0.00521, DecodeKctxMS: 0.03891, QuadUS: 0.683,
			OverheadMS: Known(0.44), OverheadSeqMS: Known(0.05115), KVBlocks: 28023, Power: power(450, 245, 60),
		},
		{
			Name: "llama-3.1-8b-a100", Model: "Llama-3.1-8B", GPU: "A100", GPUs: 1, Source: operators,
			WeightsMS: 10.837, TokenUS: 53.04, DecodeMS: 0.523, DecodeSeqMS: 0.00737, DecodeKctxMS: 0.08128, QuadUS: 2.886,
			KVBlocks: 28023,
		},
		{
			Name: "llama-3.1-8b-h200", Model: "Llama-3.1-8B", GPU: "H200", GPUs: 1, Source: operators,
			WeightsMS: 4.127, TokenUS: 20.52, DecodeMS: 0.261, DecodeSeqMS: 0.00531, DecodeKctxMS: 0.02899, QuadUS: 0.733,
			KVBlocks: 55993,
		},
		{
			Name: "llama-3.1-70b-a100x4", Model: "Llama-3.1-70B", GPU: "A100", GPUs: 4, Source: operators,
			WeightsMS: 25.591, TokenUS: 124.8, DecodeMS: 1.384, DecodeSeqMS: 0.00448, DecodeKctxMS: 0.05878, QuadUS: 3.651,
			KVBlocks: 29767,
		},
		{
			Name: "llama-3.1-70b-h100x4", Model: "Llama-3.1-70B", GPU: "H100", GPUs: 4, Source: measured,
			WeightsMS: 13.222, TokenUS: 41.48, DecodeMS: 0.761, DecodeSeqMS: 0.00288, DecodeKctxMS: 0.02561, QuadUS: 0.859,
			OverheadMS: Known(2.437), OverheadSeqMS: Known(0.07567), KVBlocks: 29767, Power: power(1700, 850, 170),
		},
		{
			Name: "llama-3.1-70b-h200x4", Model: "Llama-3.1-70B", GPU: "H200", GPUs: 4, Source: operators,
			WeightsMS: 9.147, TokenUS: 47.42, DecodeMS: 0.693, DecodeSeqMS: 0.00305, DecodeKctxMS: 0.01914, QuadUS: 0.935,
			KVBlocks: 74520,
		},
		{
			Name: "qwen3-32b-a100x2", Model: "Qwen3-32B", GPU: "A100", GPUs: 2, Source: operators,
			WeightsMS: 23.307, TokenUS: 111.5, DecodeMS: 1.079, DecodeSeqMS: 0.00822, DecodeKctxMS: 0.08792, QuadUS: 5.792,
			KVBlocks: 19804,
		},
		{
			Name: "qwen3-32b-h100x2", Model: "Qwen3-32B", GPU: "H100", GPUs: 2, Source: measured,
			WeightsMS: 12.067, TokenUS: 39.91, DecodeMS: 0.591, DecodeSeqMS: 0.00512, DecodeKctxMS: 0.0394, QuadUS: 1.395,
			OverheadMS: Known(1.706), OverheadSeqMS: Known(0.09376), KVBlocks: 19804, Power: power(820, 370, 110),
		},
		{
			Name: "qwen3-32b-h200x2", Model: "Qwen3-32B", GPU: "H200", GPUs: 2, Source: operators,
			WeightsMS: 8.651, TokenUS: 45.28, DecodeMS: 0.538, DecodeSeqMS: 0.00525, DecodeKctxMS: 0.02939, QuadUS: 1.518,
			KVBlocks: 47774,
		},
		{
			Name: "llama-3.1-8b-rtxpro6000", Model: "Llama-3.1-8B", GPU: "RTX PRO 6000 Blackwell 96GB", GPUs: 1, Source: realRun,
			WeightsMS: 11.06, TokenUS: 42.5, DecodeKctxMS: 0.1165, QuadUS: 3.235,
			OverheadMS: Known(0.43), OverheadSeqMS: Known(0.0107), MaxBatchedTokens: 2048, MaxSeqs: 128,
		},
		{
			Name: "qwen3-32b-rtxpro6000x2", Model: "Qwen3-32B", GPU: "RTX PRO 6000 Blackwell 96GB", GPUs: 2, Source: realRun,
			WeightsMS: 22.25, TokenUS: 170.7, DecodeKctxMS: 0.2263, QuadUS: 2.444,
			OverheadMS: Known(1.82), OverheadSeqMS: Known(0.0456), MaxBatchedTokens: 2048, MaxSeqs: 128,
		},
	}
}

func power(base, span, knee float64) Power {
	return Power{BaseW: Known(base), RangeW: Known(span), KneeSeqs: Known(knee)}
}

// ProfileByName returns a built-in profile; the error lists the names there are.
func ProfileByName(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("no engine profile %q; there are %s", name, strings.Join(names, ", "))
}
