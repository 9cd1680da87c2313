package engine

// GPU is what one GPU can do at most, by its maker's data sheet. Speeds are those
// of dense 16-bit tensor arithmetic with sums in 32 bits.
type GPU struct {
	FLOPS     float64 // per second
	Bandwidth float64 // of its memory, bytes per second
	Memory    float64 // bytes
	Watts     float64 // power limit
}

const gib = 1 << 30

// GPUByName returns the data of a GPU as profiles name it.
func GPUByName(name string) (GPU, bool) {
	switch name {
	case "A100": // SXM, 80 GB
		return GPU{FLOPS: 312e12, Bandwidth: 2.039e12, Memory: 80 * gib, Watts: 400}, true
	case "H100": // SXM
		return GPU{FLOPS: 989.4e12, Bandwidth: 3.352e12, Memory: 80 * gib, Watts: 700}, true
	case "H200": // SXM
		return GPU{FLOPS: 989.4e12, Bandwidth: 4.8e12, Memory: 141 * gib, Watts: 700}, true
	case "B200": // SXM
		return GPU{FLOPS: 2250e12, Bandwidth: 8e12, Memory: 180 * gib, Watts: 1000}, true
	case "L40S":
		return GPU{FLOPS: 362.05e12, Bandwidth: 0.864e12, Memory: 48 * gib, Watts: 350}, true
	case "RTX PRO 6000 Blackwell 96GB": // Workstation Edition, the fastest of three
		return GPU{FLOPS: 503.8e12, Bandwidth: 1.792e12, Memory: 96 * gib, Watts: 600}, true
	}
	return GPU{}, false
}

// GPUNames returns the GPUs that GPUByName knows.
func GPUNames() []string {
	return []string{"A100", "H100", "H200", "B200", "L40S", "RTX PRO 6000 Blackwell 96GB"}
}

// Shape is the size of a dense transformer with gated feed-forward layers, whose
// input embedding and output head are separate; weights and KV have 16 bits.
type Shape struct {
	Layers, Hidden, FFN     int
	Heads, KVHeads, HeadDim int
	Vocab                   int
}

const bytesPerNumber = 2

// ShapeOf returns the shape of a model as profiles name it. A quantised model is
// another model, which the table does not know.
func ShapeOf(model string) (Shape, bool) {
	switch model {
	case "Llama-3.1-8B":
		return Shape{Layers: 32, Hidden: 4096, FFN: 14336, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 128256}, true
	case "Llama-3.1-70B":
		return Shape{Layers: 80, Hidden: 8192, FFN: 28672, Heads: 64, KVHeads: 8, HeadDim: 128, Vocab: 128256}, true
	case "Qwen3-8B":
		return Shape{Layers: 36, Hidden: 4096, FFN: 12288, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 151936}, true
	case "Qwen3-14B":
		return Shape{Layers: 40, Hidden: 5120, FFN: 17408, Heads: 40, KVHeads: 8, HeadDim: 128, Vocab: 151936}, true
	case "Qwen3-32B":
		return Shape{Layers: 64, Hidden: 5120, FFN: 25600, Heads: 64, KVHeads: 8, HeadDim: 128, Vocab: 151936}, true
	case "Qwen2.5-7B":
		return Shape{Layers: 28, Hidden: 3584, FFN: 18944, Heads: 28, KVHeads: 4, HeadDim: 128, Vocab: 152064}, true
	case "CodeLlama-34B":
		return Shape{Layers: 48, Hidden: 8192, FFN: 22016, Heads: 64, KVHeads: 8, HeadDim: 128, Vocab: 32000}, true
	}
	return Shape{}, false
}

// layers is the number of weights that multiply every token.
func (s Shape) layers() float64 {
	attention := s.Hidden * s.HeadDim * (2*s.Heads + 2*s.KVHeads)
	return float64(s.Layers) * float64(attention+3*s.Hidden*s.FFN)
}

func (s Shape) head() float64 { return float64(s.Hidden) * float64(s.Vocab) }

// StepBytes is what a step that produces a token reads of the weights.
func (s Shape) StepBytes() float64 { return bytesPerNumber * (s.layers() + s.head()) }

// WeightBytes is what all weights occupy.
func (s Shape) WeightBytes() float64 { return bytesPerNumber * (s.layers() + 2*s.head()) }

// TokenFLOP is the arithmetic of one prompt token in the layers, without attention
// to other tokens.
func (s Shape) TokenFLOP() float64 { return 2 * s.layers() }

// PairFLOP is the arithmetic of one token's attention to one other.
func (s Shape) PairFLOP() float64 { return float64(4 * s.Layers * s.Heads * s.HeadDim) }

// KVBytes is what the keys and values of one token occupy.
func (s Shape) KVBytes() float64 {
	return float64(2 * s.Layers * s.KVHeads * s.HeadDim * bytesPerNumber)
}
