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
	// HitRate is the share of the last prompts' tokens that were found in the prefix
	// cache, 0..1, where an engine says no more.
	HitRate Figure
	// Start is when the process began, in seconds since the Unix epoch.
	Start Figure
}

// since completes what a reading says of the prefix cache by what the one before
// said: an engine that counts the tokens found looks up all of its prompts, and one
// that has only a rate found that share of what it has read since.
func (s Sample) since(before Sample) Sample {
	if s.CacheQueries.Known || !s.PromptTokens.Known || !s.CacheHits.Known && !s.HitRate.Known {
		return s
	}
	s.CacheQueries = s.PromptTokens
	if !s.CacheHits.Known {
		more := max(s.PromptTokens.Value-before.PromptTokens.Value, 0)
		s.CacheHits = Figure{before.CacheHits.Value + s.HitRate.Value*more, true}
	}
	return s
}

// Work is the number of tokens handled since the process began.
func (s *Sample) Work() Figure {
	return Figure{s.PromptTokens.Value + s.OutputTokens.Value, s.PromptTokens.Known && s.OutputTokens.Known}
}
