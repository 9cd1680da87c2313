package record

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Format is the name and version in the header of every recording.
const Format = "gatewayd.record/1"

// Header is the first line. Exactly one of BlockBytes and BlockTokens is above 0.
type Header struct {
	Format      string    `json:"format"`                 // Format; the writer fills it in
	Start       time.Time `json:"start,omitzero"`         // wall time that AtNS counts from; zero if unknown
	BlockBytes  int       `json:"block_bytes,omitempty"`  // bytes of prompt text that one block stands for
	BlockTokens int       `json:"block_tokens,omitempty"` // or prompt tokens, where the writer counts those
	Partial     bool      `json:"partial,omitempty"`      // a last block that is not full has an id too
	NoClock     bool      `json:"no_clock,omitempty"`     // AtNS is not from one clock: it counts from each session's start, or was drawn
	LocalIDs    bool      `json:"local_ids,omitempty"`    // equal ids of blocks mean equal prefixes in one session only
	Source      string    `json:"source,omitempty"`       // what wrote it, or what it was made from
	Notes       []string  `json:"notes,omitempty"`        // what was done to the traffic before, oldest first
}

// Line is one request. Times are ns; a count that is unknown is 0 unless it says
// otherwise.
type Line struct {
	AtNS     int64  `json:"at_ns"`              // arrival, from the header's start
	ID       string `json:"id,omitempty"`       // unique in the recording
	Model    string `json:"model,omitempty"`    // as the client named it
	Tenant   string `json:"tenant,omitempty"`   // who asked: Salt.Name of a key or name
	Session  string `json:"session,omitempty"`  // requests of one conversation have it in common
	Priority int    `json:"priority,omitempty"` // that of its class
	Stream   bool   `json:"stream,omitempty"`   // the client wanted a stream

	PromptBytes  int  `json:"prompt_bytes,omitempty"`  // text behind Blocks, with a last piece that is not full
	PromptTokens int  `json:"prompt_tokens"`           // as the worker counted them
	Estimated    bool `json:"estimated,omitempty"`     // PromptTokens is a guess from PromptBytes
	OutputTokens int  `json:"output_tokens"`           // generated
	CachedTokens *int `json:"cached_tokens,omitempty"` // of the prompt, as the worker says; nil: it does not say

	Outcome  string `json:"outcome,omitempty"`  // "completed", or how else the request ended
	Status   int    `json:"status,omitempty"`   // of HTTP, to the client
	Worker   string `json:"worker,omitempty"`   // the last one that had the request
	Attempts int    `json:"attempts,omitempty"` // workers tried
	TTFTNS   int64  `json:"ttft_ns,omitempty"`  // arrival to first generated content; 0: none came
	E2ENS    int64  `json:"e2e_ns,omitempty"`   // arrival to ending

	// Dropped is how many requests before this one are missing, because they came
	// faster than they could be written.
	Dropped int `json:"dropped,omitempty"`

	// After are the IDs of the requests whose answers this one waited for, and
	// ThinkNS the time since the last of them. A gateway does not know them.
	After   []string `json:"after,omitempty"`
	ThinkNS int64    `json:"think_ns,omitempty"`

	// PreambleBlocks is how many leading blocks (tools, system prompt) sessions have
	// in common where the header says LocalIDs; Agent marks a sub-agent's request.
	PreambleBlocks int  `json:"preamble_blocks,omitempty"`
	Agent          bool `json:"agent,omitempty"`

	// Blocks are ids of the prompt's blocks (Salt.Blocks): equal id i means equal
	// prefix up to and including block i.
	Blocks []uint64 `json:"blocks"`
}

// Completed is the Outcome of a request that got its whole answer.
const Completed = "completed"

// Writer writes a recording. It does not buffer, and is for one goroutine at a
// time: whoever must not wait for the file puts a queue in front.
type Writer struct {
	out  io.Writer
	line []byte
}

// NewWriter writes the header and returns a Writer for the lines.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if (h.BlockBytes > 0) == (h.BlockTokens > 0) {
		return nil, fmt.Errorf("recording: blocks of %d bytes and %d tokens; set one of the two", h.BlockBytes, h.BlockTokens)
	}
	h.Format = Format
	r := &Writer{out: w}
	return r, r.write(h)
}

// Write writes one line in a single call of the underlying writer. The line is
// not kept.
func (r *Writer) Write(l *Line) error {
	if l.Blocks == nil {
		c := *l
		c.Blocks = []uint64{}
		l = &c
	}
	return r.write(l)
}

func (r *Writer) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	r.line = append(append(r.line[:0], b...), '\n')
	if _, err := r.out.Write(r.line); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}
