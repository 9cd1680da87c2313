package gateway

import (
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"
)

// blockBytes is the length of a block of canonical prompt text in bytes.
const blockBytes = 512

// startBytes is how much of a completion's prompt makes its affinity key.
const startBytes = 2 << 10

// maxBlocks bounds the hashed part of a prompt: 4 MiB of text.
const maxBlocks = 8192

// affinity is what a request's prompt says about where its KV cache may be.
type affinity struct {
	key    uint64
	blocks []uint64
	bytes  int // length of the canonical text
}

// partBytes is what a part that is not text counts as, if it is longer: an
// image takes a few hundred tokens, however long its encoding is.
const partBytes = 2 << 10

// affinityOf derives the key, in this order: a session header, the body's
// prompt_cache_key, its user, and else the start of the conversation (model,
// tools and all messages up to the first user's; the first 2 KiB of a
// completion's prompt). Blocks are a hash chain over 512-byte pieces of the
// canonical text (tools; then role, NUL, text parts, in order), so equal hashes
// mean equal prefixes. adapter keeps requests for different adapters apart.
func affinityOf(op operation, p peeked, adapter string, headers http.Header, sessionHeaders []string) affinity {
	t := canonical{seed: xxhash.Sum64String(p.model + "\x00" + adapter)}
	t.start.ResetWithSeed(t.seed)
	t.block.ResetWithSeed(t.seed)
	if op == chat {
		t.write(p.tools.Raw)
		t.conversation(p.prompt)
	} else {
		t.limit = startBytes
		t.text(p.prompt)
	}
	a := affinity{blocks: t.blocks, bytes: t.bytes}
	switch explicit := explicitKey(p, headers, sessionHeaders); {
	case explicit != "":
		d := xxhash.NewWithSeed(t.seed)
		d.WriteString(explicit)
		a.key = d.Sum64()
	default:
		a.key = t.start.Sum64()
	}
	if a.key == 0 {
		a.key = 1 // zero means "no affinity"
	}
	return a
}

func explicitKey(p peeked, headers http.Header, names []string) string {
	for _, name := range names {
		if v := headers.Get(name); v != "" {
			return name + "\x00" + v
		}
	}
	if p.cacheKey != "" {
		return "prompt_cache_key\x00" + p.cacheKey
	}
	if p.user != "" {
		return "user\x00" + p.user
	}
	return ""
}

// canonical hashes a prompt's text as it is walked, without copying it.
type canonical struct {
	seed    uint64
	start   xxhash.Digest // the start of the conversation
	limit   int           // bytes that count as start; 0: until started
	started bool
	block   xxhash.Digest
	filled  int // bytes in the current block
	blocks  []uint64
	bytes   int
}

func (t *canonical) write(s string) {
	if !t.started {
		part := s
		if t.limit > 0 && t.bytes+len(s) >= t.limit {
			part, t.started = s[:max(0, t.limit-t.bytes)], true
		}
		t.start.WriteString(part)
	}
	t.bytes += len(s)
	for len(s) > 0 && len(t.blocks) < maxBlocks {
		n := min(len(s), blockBytes-t.filled)
		t.block.WriteString(s[:n])
		t.filled += n
		s = s[n:]
		if t.filled == blockBytes {
			// The digest goes on, so each hash covers all text before it.
			t.blocks = append(t.blocks, t.block.Sum64())
			t.filled = 0
		}
	}
}

func (t *canonical) conversation(messages gjson.Result) {
	messages.ForEach(func(_, m gjson.Result) bool {
		role := m.Get("role").String()
		t.write(role)
		t.write("\x00")
		t.text(m.Get("content"))
		if calls := m.Get("tool_calls"); calls.Exists() {
			t.write(calls.Raw)
		}
		if role == "user" {
			t.started = true
		}
		return true
	})
}

// text walks a prompt or a message's content: a string, a list of strings, of
// token numbers, or of parts. Parts that are not text count by their JSON.
func (t *canonical) text(v gjson.Result) {
	switch {
	case v.Type == gjson.String:
		t.write(v.Str)
	case v.IsArray():
		v.ForEach(func(_, part gjson.Result) bool {
			switch text := part.Get("text"); {
			case part.Type == gjson.String:
				t.write(part.Str)
			case part.IsObject() && text.Type == gjson.String:
				t.write(text.Str)
			case part.IsObject() && len(part.Raw) > partBytes:
				t.standIn(part.Raw)
			default:
				t.write(part.Raw)
				t.write(",")
			}
			return true
		})
	case v.Type == gjson.Null:
	default:
		t.write(v.Raw)
	}
}

// standIn writes partBytes that only equal parts share.
func (t *canonical) standIn(part string) {
	var hash [16]byte
	binary.LittleEndian.PutUint64(hash[:], xxhash.Sum64String(part))
	binary.LittleEndian.PutUint64(hash[8:], uint64(len(part)))
	t.write(strings.Repeat(string(hash[:]), partBytes/len(hash)))
}
