package gateway

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"gatewayd/internal/http1"
	"gatewayd/internal/scan"
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
// tools, instructions and all messages up to the first user's; the first 2 KiB of
// a prompt that is no conversation). Blocks are a hash chain over 512-byte pieces
// of the canonical text (tools; then role, NUL, text parts, in order), so equal
// hashes mean equal prefixes. model is the name that aliases stand for; adapter
// keeps requests for different adapters apart.
func affinityOf(op *operation, p peeked, model, adapter string, headers http1.Header, sessions []sessionField) affinity {
	seed := xxhash.Sum64String(model + "\x00" + adapter)
	t := canonical{doc: &p.doc}
	t.digest.ResetWithSeed(seed)
	long := 0
	for _, v := range p.fields {
		long += len(v.Raw)
	}
	t.blocks = make([]uint64, 0, min(long/blockBytes+1, maxBlocks))
	for i, v := range p.fields {
		var name string
		if i < len(op.context) {
			name = op.context[i]
		} else {
			name = op.prompt[i-len(op.context)]
		}
		switch {
		case name == "tools":
			t.write(v.Raw)
		case i < len(op.context):
			t.text(v)
		case isConversation(&p.doc, name, v):
			t.conversation(v)
		default:
			t.limit = t.bytes + startBytes
			t.text(v)
		}
	}
	if p.file != "" {
		t.standIn(p.file)
	}
	a := affinity{blocks: t.blocks, bytes: t.bytes}
	if op.light {
		a.blocks, a.bytes = nil, 0
	}
	if kind, explicit := explicitKey(p, headers, sessions); explicit != "" {
		var d xxhash.Digest
		d.ResetWithSeed(seed)
		d.WriteString(kind)
		d.WriteString("\x00")
		d.WriteString(explicit)
		a.key = d.Sum64()
	} else {
		t.begun()
		a.key = t.start
	}
	if a.key == 0 {
		a.key = 1 // zero means "no affinity"
	}
	return a
}

// isConversation reports whether a field holds messages: that of this name, or a
// list of items as the Responses API takes it.
func isConversation(doc *scan.Document, name string, v scan.Value) bool {
	if name != "input" || !scan.IsArray(v.Raw) {
		return name == "messages"
	}
	items := false
	doc.Each(v, func(first scan.Value) bool {
		items = scan.IsObject(first.Raw)
		return false
	})
	return items
}

// explicitKey returns what the client calls its session, and where it says so.
func explicitKey(p peeked, headers http1.Header, fields []sessionField) (kind, key string) {
	for _, f := range fields {
		if v := headers.Get(f.canonical); v != "" {
			return f.name, v
		}
	}
	if p.cacheKey != "" {
		return "prompt_cache_key", p.cacheKey
	}
	return "user", p.user
}

// canonical hashes a prompt's text as it is walked. Of text that comes in pieces it
// keeps a block at most.
type canonical struct {
	doc     *scan.Document
	digest  xxhash.Digest // of all whole blocks, so that each hash covers all text before it
	blocks  []uint64
	block   [blockBytes]byte // the one that is not whole
	filled  int
	bytes   int
	start   uint64 // hash of the start of the conversation, once that has begun
	started bool
	limit   int // bytes that count as start; 0: until begun
}

func (t *canonical) write(s string) {
	if rest := t.limit - t.bytes; t.limit > 0 && !t.started && len(s) >= rest {
		t.add(s[:max(0, rest)])
		t.begun()
		s = s[max(0, rest):]
	}
	t.add(s)
}

// add takes text into the blocks.
func (t *canonical) add(s string) {
	t.bytes += len(s)
	for len(s) > 0 {
		if t.filled == 0 && len(s) >= blockBytes {
			if t.started && len(t.blocks) == maxBlocks {
				return
			}
			t.digest.WriteString(s[:blockBytes])
			t.whole()
			s = s[blockBytes:]
			continue
		}
		n := copy(t.block[t.filled:], s)
		s = s[n:]
		if t.filled += n; t.filled == blockBytes {
			t.digest.Write(t.block[:])
			t.whole()
			t.filled = 0
		}
	}
}

// whole notes the hash of a block that has come to its end.
func (t *canonical) whole() {
	if len(t.blocks) < maxBlocks {
		t.blocks = append(t.blocks, t.digest.Sum64())
	}
}

// begun ends the start of the conversation, unless it has ended before.
func (t *canonical) begun() {
	if t.started {
		return
	}
	sofar := t.digest
	sofar.Write(t.block[:t.filled])
	t.start, t.started = sofar.Sum64(), true
}

func (t *canonical) conversation(messages scan.Value) {
	t.doc.Each(messages, func(m scan.Value) bool {
		var role string
		var content, calls scan.Value
		t.doc.Each(m, func(v scan.Value) bool {
			switch {
			case v.Name == "role" && role == "":
				role = value(v).String()
			case v.Name == "content" && content.Raw == "":
				content = v
			case v.Name == "tool_calls" && calls.Raw == "":
				calls = v
			}
			return true
		})
		t.write(role)
		t.write("\x00")
		t.text(content)
		t.write(calls.Raw)
		if content.Raw == "" && calls.Raw == "" {
			t.write(m.Raw) // an item of another kind, as a tool's result
		}
		if role == "user" {
			t.begun()
		}
		return true
	})
}

// text walks a prompt or a message's content: a string, a list of strings, of
// token numbers, or of parts. Parts that are not text count by their JSON.
func (t *canonical) text(v scan.Value) {
	switch {
	case scan.IsString(v.Raw):
		t.said(v.Raw)
	case scan.IsArray(v.Raw):
		t.doc.Each(v, func(part scan.Value) bool {
			t.part(part)
			return true
		})
	case v.Raw != "null":
		t.write(v.Raw)
	}
}

// said writes what a string says.
func (t *canonical) said(raw string) {
	if strings.IndexByte(raw, '\\') < 0 {
		t.write(raw[1 : len(raw)-1])
		return
	}
	var buf [2 * blockBytes]byte
	for n, at := 0, 1; at < len(raw)-1; {
		n, at = scan.Decode(buf[:], raw, at)
		t.write(unsafe.String(&buf[0], n)) // which keeps nothing of it
	}
}

func (t *canonical) part(v scan.Value) {
	text := v.Raw
	if scan.IsObject(v.Raw) {
		text = t.doc.Member(v, "text").Raw
	}
	switch {
	case scan.IsString(text):
		t.said(text)
	case scan.IsObject(v.Raw) && len(v.Raw) > partBytes:
		t.standIn(v.Raw)
	default:
		t.write(v.Raw)
		t.write(",")
	}
}

// standIn writes partBytes that only equal parts share.
func (t *canonical) standIn(part string) {
	var hash [16]byte
	binary.LittleEndian.PutUint64(hash[:], xxhash.Sum64String(part))
	binary.LittleEndian.PutUint64(hash[8:], uint64(len(part)))
	t.write(strings.Repeat(string(hash[:]), partBytes/len(hash)))
}
