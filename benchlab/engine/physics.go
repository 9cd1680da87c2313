package engine

import (
	"errors"
	"fmt"
)

// speedTolerance is how much faster than its GPUs a profile may claim to be: fits
// of kernel times have errors of this size, and a cache serves part of the reads.
const speedTolerance = 0.02

// Limit compares one figure of a profile with the best that its GPUs can do by
// their data sheets. What the tables of models and GPUs do not know is unknown.
type Limit struct {
	Field   string `json:"field"`   // as in a profile's JSON
	Value   Figure `json:"value"`   // the profile's
	Bound   Figure `json:"bound"`   // least possible time, or most possible blocks and watts
	Implied Figure `json:"implied"` // what Value means for each GPU, in Unit
	Peak    Figure `json:"peak"`    // what a GPU has of it, in Unit
	Unit    string `json:"unit"`    // "FLOP/s", "bytes/s", "bytes" or "W"
	Share   Figure `json:"share"`   // Implied/Peak: MFU, or use of bandwidth, memory or power
}

// Limits returns the limits of a profile, in a fixed order: reading the weights,
// computing a token (MFU), reading a context, attending to a prefix (MFU), KV
// memory with the weights, and the highest power of a step. The formulas count a
// dense model in 16 bits, split evenly over the GPUs:
//
//	weights_ms             bytes of layers and output head / bandwidth
//	token_us               2 FLOP per weight of the layers / peak
//	decode_kctx_ms         KV bytes of 1000 tokens / bandwidth
//	prefill_quadratic_us   4*layers*heads*head_dim*1000 FLOP / peak
//	kv_blocks              memory less all weights / KV bytes of a block
func (p *Profile) Limits() []Limit {
	q := p.withDefaults()
	gpu, okGPU := GPUByName(q.GPU)
	shape, okShape := ShapeOf(q.Model)
	known := okGPU && okShape && q.GPUs > 0
	n := float64(q.GPUs)
	rate := func(field string, value, scale, work, peak float64, unit string) Limit {
		l := Limit{Field: field, Value: Known(value), Unit: unit}
		if known {
			l.Bound, l.Peak = Known(work/n/peak*scale), Known(peak)
			if value > 0 {
				l.Implied, l.Share = Known(work/n/value*scale), Known(work/n/value*scale/peak)
			}
		}
		return l
	}
	const ms, us = 1e3, 1e6
	limits := []Limit{
		rate("weights_ms", q.WeightsMS, ms, shape.StepBytes(), gpu.Bandwidth, "bytes/s"),
		rate("token_us", q.TokenUS, us, shape.TokenFLOP(), gpu.FLOPS, "FLOP/s"),
		rate("decode_kctx_ms", q.DecodeKctxMS, ms, shape.KVBytes()*1000, gpu.Bandwidth, "bytes/s"),
		rate("prefill_quadratic_us", q.QuadUS, us, shape.PairFLOP()*1000, gpu.FLOPS, "FLOP/s"),
	}
	memory := Limit{Field: "kv_blocks", Unit: "bytes"}
	if q.KVBlocks > 0 {
		memory.Value = Known(float64(q.KVBlocks))
	}
	if known {
		block := shape.KVBytes() * float64(q.BlockTokens)
		memory.Peak = Known(gpu.Memory)
		memory.Bound = Known(max(0, float64(int64((gpu.Memory*n-shape.WeightBytes())/block))))
		if q.KVBlocks > 0 {
			each := (float64(q.KVBlocks)*block + shape.WeightBytes()) / n
			memory.Implied, memory.Share = Known(each), Known(each/gpu.Memory)
		}
	}
	power := Limit{Field: "power", Unit: "W"}
	if w, ok := q.Power.Watts(q.MaxSeqs).Value(); ok {
		power.Value = Known(w)
		if okGPU && q.GPUs > 0 {
			power.Implied, power.Share = Known(w/n), Known(w/n/gpu.Watts)
		}
	}
	if okGPU && q.GPUs > 0 {
		power.Bound, power.Peak = Known(gpu.Watts*n), Known(gpu.Watts)
	}
	return append(limits, memory, power)
}

// CheckPhysics reports every figure that is better than the GPUs allow, by more
// than 2 %; for KV memory by anything. It knows nothing of a model or GPU outside
// the tables, and then reports nothing.
func (p *Profile) CheckPhysics() error {
	var errs []error
	for _, l := range p.Limits() {
		value, have := l.Value.Value()
		bound, known := l.Bound.Value()
		if !have || !known {
			continue
		}
		ok, word := value >= bound/(1+speedTolerance), "least"
		switch l.Field {
		case "kv_blocks":
			ok, word = value <= bound, "most"
		case "power":
			ok, word = value <= bound*(1+speedTolerance), "most"
		}
		if !ok {
			errs = append(errs, fmt.Errorf(
				"engine profile %q: %s is %.6g, but %d x %s serving %s in 16 bits can have %.6g at %s",
				p.Name, l.Field, value, p.GPUs, p.GPU, p.Model, bound, word))
		}
	}
	return errors.Join(errs...)
}
