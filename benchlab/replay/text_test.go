package replay

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gatewayd/benchlab/trace"
)

func read(t *testing.T, x *text) string {
	t.Helper()
	b, err := io.ReadAll(x)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != x.len() {
		t.Fatalf("%d bytes, its length says %d", len(b), x.len())
	}
	return string(b)
}

func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		seen[w] = true
	}
	if len(words) != wordBytes<<wordBits || len(seen) != 1<<wordBits {
		t.Fatalf("%d bytes, %d different words", len(words), len(seen))
	}
}

// blocked is a trace whose prompts share what its ids say.
func blocked() *trace.Trace {
	return &trace.Trace{BlockTokens: 512, Requests: []trace.Request{
		{Input: 1200, Blocks: []uint64{1, 2, 3}, Session: 1},
		{Input: 1536, Blocks: []uint64{1, 2, 4}, Session: 2},
		{Input: 1200, Blocks: []uint64{1, 2, 3}, Session: 2},
		{Input: 1200, Blocks: []uint64{2, 1, 3}, Session: 3},
		{Input: 700, Blocks: []uint64{7}, Session: 1}, // the rest has no id
		{Input: 700, Blocks: []uint64{7}, Session: 1},
		{Input: 700, Session: 1}, // nothing is known
		{Input: 700, Session: 1},
	}}
}

// TestEqualIDsGiveEqualText and nothing else does.
func TestEqualIDsGiveEqualText(t *testing.T) {
	for _, tokens := range []Tokens{{}, {Fixed: 4}, {BytesPerToken: 3.7, Fixed: 11.5}, {BytesPerToken: 1}} {
		w := writer{trace: blocked(), tokens: tokens, salt: 9}
		size := func(blocks int) int { return tokens.offset(512 * blocks) }
		texts := make([]string, len(w.trace.Requests))
		for i := range texts {
			texts[i] = read(t, w.write(i))
			if got, want := len(texts[i]), tokens.bytes(w.trace.Requests[i].Input); got != want {
				t.Errorf("%+v: text %d has %d bytes, want %d", tokens, i, got, want)
			}
		}
		for _, x := range []struct{ a, b, least, most int }{
			{0, 1, size(2), size(2) + 16}, {0, 2, len(texts[0]), len(texts[0])}, {0, 3, 0, 16},
			{4, 5, size(1), size(1) + 16}, {6, 7, 0, 16}, {0, 4, 0, 16},
		} {
			if n := common(texts[x.a], texts[x.b]); n < x.least || n > x.most {
				t.Errorf("%+v: texts %d and %d share %d bytes, want %d to %d", tokens, x.a, x.b, n, x.least, x.most)
			}
		}
	}
}

func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestSaltAndScope: runs with other salts, and sessions whose ids mean something
// inside of them only, share nothing.
func TestSaltAndScope(t *testing.T) {
	tr := blocked()
	a, b := writer{trace: tr, salt: 1}, writer{trace: tr, salt: 2}
	if n := common(read(t, a.write(0)), read(t, b.write(0))); n > 16 {
		t.Errorf("two salts share %d bytes", n)
	}
	if a.session(1) == b.session(1) || a.session(1) == a.session(2) || a.session(1) != SessionName(1, 1) || a.session(0) != "" {
		t.Errorf("sessions %q %q %q %q", a.session(1), a.session(2), b.session(1), a.session(0))
	}
	tr.Scope = trace.ScopeSession
	if n := common(read(t, a.write(0)), read(t, a.write(1))); n > 16 {
		t.Errorf("two sessions share %d bytes", n)
	}
	if n := common(read(t, a.write(1)), read(t, a.write(2))); n < 4096 {
		t.Errorf("within a session, prompts share only %d bytes", n)
	}
}

// TestReadInPieces: the text does not depend on how it is read.
func TestReadInPieces(t *testing.T) {
	w := writer{trace: blocked(), tokens: Tokens{BytesPerToken: 3.7}}
	whole := read(t, w.write(0))
	pieces, err := io.ReadAll(iotest.OneByteReader(w.write(0)))
	if err != nil || string(pieces) != whole {
		t.Errorf("read byte by byte it is another text (%v)", err)
	}
	if err := iotest.TestReader(w.write(0), []byte(whole)); err != nil {
		t.Error(err)
	}
}

// TestBody is JSON with the prompt in its place, as often as it is opened.
func TestBody(t *testing.T) {
	w := writer{trace: blocked()}
	prompt := read(t, w.write(0))
	for _, f := range []form{{endpoint: Chat, model: `a"b`, exact: true, cacheKey: true}, {endpoint: Completions, model: "m"}} {
		b := f.body(w.write(0), 7, "s")
		for range 2 {
			raw, err := io.ReadAll(b.open())
			if err != nil || int64(len(raw)) != b.len() {
				t.Fatalf("%d bytes, the length says %d: %v", len(raw), b.len(), err)
			}
			var got struct {
				Model    string
				Prompt   string
				Messages []struct{ Role, Content string }
				Max      int    `json:"max_tokens"`
				Min      int    `json:"min_tokens"`
				Ignore   bool   `json:"ignore_eos"`
				Key      string `json:"prompt_cache_key"`
				Stream   bool
				Options  struct {
					Usage bool `json:"include_usage"`
				} `json:"stream_options"`
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			text := got.Prompt
			if f.endpoint == Chat {
				text = got.Messages[0].Content
			}
			if text != prompt || got.Model != f.model || got.Max != 7 || !got.Stream || !got.Options.Usage {
				t.Errorf("%.200s", raw)
			}
			if got.Ignore != f.exact || (got.Min == 7) != f.exact || (got.Key == "s") != f.cacheKey {
				t.Errorf("%.200s", raw)
			}
		}
	}
}
