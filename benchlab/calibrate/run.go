package calibrate

import "time"

// Run is what one engine did with one list of requests.
type Run struct {
	Name   string // of the recording
	Model  string // as engine profiles name it, "Llama-3.1-8B"
	Engine string // "vLLM 0.19.0"
	GPUs   int    // tensor parallel size

	MaxSeqs          int // sequences per step; 0 is unknown
	MaxBatchedTokens int // tokens per step; 0 is unknown
	BlockTokens      int // prompt tokens that one block id stands for

	Requests []Request // in order of arrival
	Samples  []Sample  // the engine's own figures over time; may be empty
	Notes    []string  // what of the recording is missing
}

// Request is one recorded request. Times are since the first one was queued.
type Request struct {
	ID           string
	Prompt       int      // tokens, at least 1
	Output       int      // tokens, at least 1
	Blocks       []uint64 // one id for each full block of the prompt
	OutputBlocks []uint64 // continue Blocks over the answer
	Served
}

// Served is when one request was taken into the engine's queue, and got its first
// and its last token.
type Served struct {
	Queued, FirstToken, LastToken time.Duration
}

// TTFT is the time from the queue to the first token.
func (s Served) TTFT() time.Duration { return s.FirstToken - s.Queued }

// E2E is the time from the queue to the last token.
func (s Served) E2E() time.Duration { return s.LastToken - s.Queued }

// TPOT is the mean time of the later ones of output tokens; 0 if there are none.
func (s Served) TPOT(output int) time.Duration {
	if output < 2 {
		return 0
	}
	return (s.LastToken - s.FirstToken) / time.Duration(output-1)
}

// Sample is what the engine said of itself.
type Sample struct {
	At               time.Duration // since recording began
	Running, Waiting int           // sequences
	KVUsed           float64       // share of blocks, 0 ... 1
}
