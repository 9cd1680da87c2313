package trace

import "time"

// File is what Read read.
type File struct {
	Bytes     int64 // as stored, perhaps packed
	RawBytes  int64 // unpacked
	CRLF      bool  // lines end in CR LF
	Unordered bool  // rows were not in order of time, in the file or in a session
}

// Facts are figures of a file that only some formats have. What a format does not
// have is zero.
type Facts struct {
	First, Last string // first and last timestamp as written, where they are dates

	// Claude Code sessions, in the order of the file.
	Models       map[string]int // sessions by the models they name
	Subagents    int
	Thinks       []time.Duration // all recorded client delays
	ToolTokens   []int           // by session
	SystemTokens []int           // by session

	Parts *Parts // RAGPulse
}

// Parts says how much of prompts that are put together from parts of any length
// is found again. Shares are of the tokens of all parts.
type Parts struct {
	PrefixHit  float64 // leading parts that were seen in the same order before
	ContentHit float64 // parts that were seen before anywhere: what a cache could serve if order did not matter

	Passages         int     // different retrieved passages
	PassageRefs      int     // passages over all prompts
	TopPassagesShare float64 // of PassageRefs, to the ten most frequent
}
