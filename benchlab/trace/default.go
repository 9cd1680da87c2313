package trace

import (
	_ "embed"
	"strings"
)

//go:embed data/conversation_0-40min.jsonl.gz
var conversation string

// Default reads the trace that ships with the program: 7,851 requests of a chat
// service, as recorded, with ticks of 3 s and without sessions (data/README.md).
func Default() (*Trace, error) {
	t, err := Read(strings.NewReader(conversation), "conversation_0-40min.jsonl.gz", Options{})
	if err != nil {
		return nil, err
	}
	t.Origin = "kvcache-ai/Mooncake, FAST25-release/traces/conversation_trace.jsonl, first 40 of 59 minutes, Apache-2.0"
	return t, nil
}
