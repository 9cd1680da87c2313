package worker

import (
	"bytes"
	"regexp"
	"slices"
	"testing"
)

func TestWordsAreTokens(t *testing.T) {
	if !regexp.MustCompile(`^([a-z]{3} )+$`).MatchString(words) {
		t.Fatal("a word is not three letters and a space")
	}
	text := answer([]byte("prompt"), 1000)
	if countTokens(text) != 1000 || len(text) != 1000*tokenBytes {
		t.Errorf("1000 words are %d tokens in %d bytes", countTokens(text), len(text))
	}
	if !bytes.Equal(text[:40], answer([]byte("prompt"), 10)) || bytes.Equal(text[:40], answer([]byte("prompu"), 10)) {
		t.Error("an answer does not depend on the prompt alone")
	}
}

func TestEqualPrefixesGiveEqualBlocks(t *testing.T) {
	text := answer([]byte("x"), 100)
	whole := blockHashes(text, 16)
	if len(whole) != 6 { // 96 of 100 tokens
		t.Fatalf("%d blocks, want 6", len(whole))
	}
	for length := range len(text) + 1 {
		if got := blockHashes(text[:length], 16); !slices.Equal(got, whole[:length/64]) {
			t.Fatalf("the first %d bytes have blocks %x, want %x", length, got, whole[:length/64])
		}
	}
	changed := slices.Clone(text)
	changed[70] ^= 1
	for i, hash := range blockHashes(changed, 16) {
		if (hash == whole[i]) != (i < 1) {
			t.Errorf("after a change in block 1, block %d is equal: %t", i, hash == whole[i])
		}
	}
	if same := bytes.Repeat(text[:64], 2); blockHashes(same, 16)[0] == blockHashes(same, 16)[1] {
		t.Error("a block's hash does not depend on its place")
	}
}

func TestConfig(t *testing.T) {
	good := Config{Models: []string{"m"}, Profile: profile(t)}
	for name, spoil := range map[string]func(*Config){
		"no model":       func(c *Config) { c.Models = nil },
		"empty model":    func(c *Config) { c.Models = []string{""} },
		"broken model":   func(c *Config) { c.Models = []string{"\xff"} },
		"no profile":     func(c *Config) { c.Profile.KVBlocks = 0 },
		"backwards":      func(c *Config) { c.Speed = -1 },
		"no memory":      func(c *Config) { c.ContextLen = 1 << 30 },
		"negative limit": func(c *Config) { c.MaxInFlight = -1 },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzChatBody: no body makes the reader panic or costs more than its length.
func FuzzChatBody(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url"}]}],"tools":[{}]}`,
		`{"model":"m","messages":[{"role":"a","content":null,"tool_calls":[{"id":"\ud800"}]}],"max_tokens":1e9}`,
		`{"model":"m","messages":{}}`, `[]`, `"`, ``, `{"model":"m","messages":[null]}`,
	} {
		f.Add([]byte(body))
	}
	s := &Server{config: Config{Models: []string{"m"}, ContextLen: 1000}, block: 16}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r chatRequest
		if s.decode(body, &r, &r.Model) != nil {
			return
		}
		text, err := chatText(&r)
		if err != nil {
			return
		}
		if len(text) > 40*len(body)+100 {
			t.Fatalf("%d bytes of body became %d bytes of text", len(body), len(text))
		}
		if tokens, reason, err := s.limit(&r.asked, countTokens(text)); err == nil {
			j := s.newJob(text, tokens, reason)
			if total := j.request.PromptTokens + j.request.OutputTokens; total > 1000 {
				t.Fatalf("%d tokens in a context of 1000", total)
			}
		}
	})
}
