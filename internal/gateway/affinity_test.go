package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

// affine returns the affinity of a body.
func affine(t *testing.T, op *operation, body string, header ...string) affinity {
	t.Helper()
	p, e := peek(op, body)
	if e != nil {
		t.Fatalf("%.80s: %v", body, e)
	}
	var h http1.Header
	for i := 0; i < len(header); i += 2 {
		h.Set(http.CanonicalHeaderKey(header[i]), header[i+1])
	}
	return affinityOf(op, p, p.model, "", h, sessionFields([]string{"x-session-id", "X-Conversation"}))
}

func chatBody(messages string, fields ...string) string {
	return fmt.Sprintf(`{"model":"m",%s"messages":[%s]}`, strings.Join(append(fields, ""), ","), messages)
}

// Conversations with different starts have different keys, whatever form their
// messages take.
func TestStartsMakeKeys(t *testing.T) {
	image := func(data string) string {
		return `{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}`
	}
	bodies := []string{
		chatBody(`{"role":"user","content":"a"}`),
		chatBody(`{"role":"user","content":"b"}`),
		chatBody(`{"role":"system","content":"a"},{"role":"user","content":"a"}`),
		chatBody(`{"role":"user","content":[{"type":"text","text":"parts"}]}`),
		chatBody(`{"role":"user","content":[{"type":"text","text":"other parts"}]}`),
		chatBody(`{"role":"user","content":null}`),
		chatBody(`{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`),
		chatBody(`{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"g","arguments":"{}"}}]}`),
		chatBody(`{"role":"tool","tool_call_id":"1","content":"42"}`),
		chatBody(`{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"43"}]}`),
		chatBody(image("AAAA")),
		chatBody(image("AAAB")),
		chatBody(image(strings.Repeat("A", 9000))),
		chatBody(image(strings.Repeat("A", 8999) + "B")),
		chatBody(`{"role":"user","content":"a"}`, `"tools":[{"type":"function","function":{"name":"f"}}]`),
		chatBody(`{"role":"user","content":"a"}`, `"tools":[{"type":"function","function":{"name":"g"}}]`),
		chatBody(`{"role":"user","content":"h\u00e9"}`),
		chatBody(``),
		`{"model":"n","messages":[{"role":"user","content":"a"}]}`,
	}
	keys := map[uint64]string{}
	for _, b := range bodies {
		a := affine(t, chat, b)
		if a.key == 0 {
			t.Errorf("no key for %.100s", b)
		}
		if other, taken := keys[a.key]; taken {
			t.Errorf("one key for %.100s and %.100s", b, other)
		}
		keys[a.key] = b
	}
	for form, other := range map[string]string{
		chatBody(`{"role":"user","content":"a"}`):              chatBody(`{"content":[{"type":"text","text":"a"}],"role":"user"}`, `"stream":true`),
		chatBody(`{"role":"user","content":"h\u00e9"}`):        chatBody(`{"role":"user","content":"hé"}`),
		chatBody(`{"role":"user","content":"a"}`, `"user":""`): chatBody(`{"role":"user","content":"a"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}`),
	} {
		if affine(t, chat, form).key != affine(t, chat, other).key {
			t.Errorf("different keys for %s and %s", form, other)
		}
	}
	if a, b := affine(t, completion, `{"model":"m","prompt":"`+strings.Repeat("x", startBytes)+`one"}`), affine(t, completion, `{"model":"m","prompt":"`+strings.Repeat("x", startBytes)+`two"}`); a.key != b.key {
		t.Error("completions that differ behind their first 2 KiB have different keys")
	}
	for _, prompts := range [][2]string{{`"a"`, `"b"`}, {`[1,2]`, `[1,3]`}, {`[[1,2]]`, `[[1,3]]`}, {`["a","b"]`, `["a","c"]`}, {`[12]`, `[1,2]`}} {
		if affine(t, completion, `{"model":"m","prompt":`+prompts[0]+`}`).key == affine(t, completion, `{"model":"m","prompt":`+prompts[1]+`}`).key {
			t.Errorf("one key for the prompts %s and %s", prompts[0], prompts[1])
		}
	}
}

// What names a session goes before the conversation, in a fixed order.
func TestKeysInOrder(t *testing.T) {
	body := func(fields string, text string) string {
		return chatBody(`{"role":"user","content":"`+text+`"}`, fields)
	}
	cache, user, both := `"prompt_cache_key":"k"`, `"user":"u"`, `"user":"u","prompt_cache_key":"k"`
	plain := `"stream":false`
	for _, c := range []struct {
		name         string
		body1, body2 string
		head1, head2 []string
		same         bool
	}{
		{"header before all", body(both, "a"), body(plain, "b"), []string{"X-Session-Id", "s"}, []string{"X-Session-Id", "s"}, true},
		{"another session", body(both, "a"), body(both, "a"), []string{"X-Session-Id", "s"}, []string{"X-Session-Id", "t"}, false},
		{"first header first", body(plain, "a"), body(plain, "b"), []string{"X-Session-Id", "s", "X-Conversation", "1"}, []string{"X-Session-Id", "s", "X-Conversation", "2"}, true},
		{"second header", body(plain, "a"), body(plain, "b"), []string{"X-Conversation", "1"}, []string{"X-Conversation", "1"}, true},
		{"header names count", body(plain, "a"), body(plain, "a"), []string{"X-Session-Id", "s"}, []string{"X-Conversation", "s"}, false},
		{"cache key before user", body(both, "a"), body(cache, "b"), nil, nil, true},
		{"cache key is not the user", body(`"prompt_cache_key":"x"`, "a"), body(`"user":"x"`, "a"), nil, nil, false},
		{"user before conversation", body(user, "a"), body(user, "b"), nil, nil, true},
		{"another user", body(user, "a"), body(`"user":"v"`, "a"), nil, nil, false},
		{"conversation last", body(plain, "a"), body(plain, "b"), nil, nil, false},
	} {
		a, b := affine(t, chat, c.body1, c.head1...), affine(t, chat, c.body2, c.head2...)
		if (a.key == b.key) != c.same {
			t.Errorf("%s: keys equal is %v, want %v", c.name, a.key == b.key, c.same)
		}
	}
	p, _ := peek(chat, body(user, "a"))
	x, y := affinityOf(chat, p, "m", "", nil, nil), affinityOf(chat, p, "m", "lora", nil, nil)
	if x.key == y.key || len(x.blocks) > 0 && x.blocks[0] == y.blocks[0] {
		t.Error("adapters share a key")
	}
}

// Equal prefixes have equal blocks, and nothing behind a difference has.
func TestBlocksAreAPrefixChain(t *testing.T) {
	turn := func(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }
	system := turn("system", strings.Repeat("You are helpful. ", 100))
	first := affine(t, chat, chatBody(system+","+turn("user", strings.Repeat("question ", 200))))
	next := affine(t, chat, chatBody(system+","+turn("user", strings.Repeat("question ", 200))+","+turn("assistant", strings.Repeat("answer ", 200))+","+turn("user", "more")))
	if n := len(first.blocks); n != first.bytes/blockBytes || !slices.Equal(first.blocks, next.blocks[:n]) || len(next.blocks) <= n {
		t.Errorf("%d blocks of %d bytes; the next turn has %d", len(first.blocks), first.bytes, len(next.blocks))
	}
	other := affine(t, chat, chatBody(system+","+turn("user", "Question "+strings.Repeat("question ", 199))))
	same := (len(strings.Repeat("You are helpful. ", 100)) + len("system\x00user\x00")) / blockBytes
	for i := range other.blocks {
		if (other.blocks[i] == first.blocks[i]) != (i < same) {
			t.Errorf("block %d: equal is %v; the texts are equal up to block %d", i, other.blocks[i] == first.blocks[i], same)
		}
	}
	tools := affine(t, chat, chatBody(system, `"tools":[{"type":"function","function":{"name":"f"}}]`))
	if tools.blocks[0] == first.blocks[0] {
		t.Error("prompts with and without tools share their first block")
	}
	// Text in parts is the same text.
	parts := affine(t, chat, chatBody(`{"role":"system","content":[{"type":"text","text":"`+strings.Repeat("You are ", 100)+`"},{"type":"text","text":"`+strings.Repeat("helpful", 100)+`"}]}`))
	whole := affine(t, chat, chatBody(turn("system", strings.Repeat("You are ", 100)+strings.Repeat("helpful", 100))))
	if !slices.Equal(parts.blocks, whole.blocks) {
		t.Error("text in parts has other blocks than the text in one piece")
	}
	// A long prompt stays within its bound, and counts in full.
	long := affine(t, completion, `{"model":"m","prompt":"`+strings.Repeat("x", 5<<20)+`"}`)
	if len(long.blocks) != maxBlocks || long.bytes != 5<<20 {
		t.Errorf("%d blocks of %d bytes", len(long.blocks), long.bytes)
	}
}

// An image is not as many tokens as its encoding has bytes.
func TestImagesAreNoText(t *testing.T) {
	body := func(data string) string {
		return chatBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}},{"type":"text","text":"what?"}]}`)
	}
	small, large := affine(t, chat, body(strings.Repeat("A", 4<<10))), affine(t, chat, body(strings.Repeat("A", 8<<20)))
	if small.bytes != large.bytes || large.bytes > 3<<10 {
		t.Errorf("images count as %d and %d bytes of text", small.bytes, large.bytes)
	}
}
