package worker

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkRead is what the worker itself does with a chat of 15,000 tokens before
// the engine has it: time that an engine's profile does not know of.
func BenchmarkRead(b *testing.B) {
	s := start(b, Config{})
	body, err := json.Marshal(map[string]any{"model": "llama", "max_tokens": 100,
		"messages": []any{map[string]string{"role": "user", "content": strings.Repeat("abc ", 15_000)}}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var r chatRequest
		if err := s.decode(body, &r, &r.Model); err != nil {
			b.Fatal(err)
		}
		text, err := chatText(&r)
		if err != nil {
			b.Fatal(err)
		}
		s.newJob(text, 100, "length")
	}
}
