package fleet

// Figure is a number that may be unknown. Unknown is not zero.
type Figure struct {
	Value float64
	Known bool
}

// Sample is what one reading of an engine's metrics said, summed over its
// data-parallel engines.
type Sample struct {
	Engine  string // vllm, sglang, trtllm, llamacpp, or "" if none was recognised
	Running Figure // sequences in the batch
	Waiting Figure // sequences in the queue
	KVUsed  Figure // share of the KV cache in use, 0..1, the mean over engines
	// KVTokens is the KV cache's capacity in tokens.
	KVTokens Figure
	// Counters since the process began, in tokens.
	PromptTokens, OutputTokens Figure
	CacheQueries, CacheHits    Figure
	// Start is when the process began, in seconds since the Unix epoch.
	Start Figure
}

// Work is the number of tokens handled since the process began.
func (s *Sample) Work() Figure {
	return Figure{s.PromptTokens.Value + s.OutputTokens.Value, s.PromptTokens.Known && s.OutputTokens.Known}
}
