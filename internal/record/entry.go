package record

import (
	"time"

	"gatewayd/pkg/record"
)

// Entry is what became of one request.
type Entry struct {
	Arrived time.Time
	First   time.Time // first generated content of a stream; zero if none came
	Ended   time.Time

	Model    string // that the client asked for; an alias is what it stands for
	Tenant   string // who asked, as Recorder.Tenant hides it
	Key      uint64 // affinity key, 0 for none
	Stream   bool
	Priority int // of its class

	Bytes     int      // of canonical prompt text
	Blocks    []uint64 // hashes of its blocks, not to be changed any more
	Prompt    int      // tokens
	Estimated bool     // Prompt is a guess from Bytes
	Output    int      // tokens generated
	Cached    int      // prompt tokens from the prefix cache, -1 if the worker does not say

	Outcome  string // as in the metrics
	Status   int    // of HTTP, to the client
	Worker   string // the last one that had it, "" if none did
	Attempts int
}

// line turns an entry into a line of the file.
func (r *Recorder) line(e *Entry, dropped int) *record.Line {
	l := &record.Line{
		AtNS: max(0, int64(e.Arrived.Sub(r.start))), E2ENS: max(0, int64(e.Ended.Sub(e.Arrived))),
		Model: e.Model, Tenant: e.Tenant, Session: r.o.Salt.Key(e.Key), Stream: e.Stream, Priority: e.Priority,
		PromptBytes: e.Bytes, PromptTokens: e.Prompt, Estimated: e.Estimated, OutputTokens: e.Output,
		Outcome: e.Outcome, Status: e.Status, Worker: e.Worker, Attempts: e.Attempts, Dropped: dropped,
	}
	if !e.First.IsZero() {
		l.TTFTNS = max(1, int64(e.First.Sub(e.Arrived)))
	}
	if e.Cached >= 0 {
		l.CachedTokens = &e.Cached
	}
	r.ids = r.o.Salt.Blocks(r.ids[:0], e.Blocks)
	l.Blocks = r.ids
	return l
}
