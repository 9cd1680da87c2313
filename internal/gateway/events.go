package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gatewayd/pkg/router"
)

// maxEventLine bounds the part of a line that is kept while it is incomplete.
// Longer lines are relayed like any other but not read.
const maxEventLine = 256 << 10

// events reads a stream of server-sent events as it is relayed: where the first
// generated token is, what usage says, whether it ended as it should. It only
// looks; the bytes are relayed as they are, however they are cut.
type events struct {
	line     []byte // an incomplete line
	skipping bool   // the rest of a line that was too long
	tokens   int    // events that carried generated content
	usage    router.Usage
	hasUsage bool
	done     bool // data: [DONE] was seen
	model    string
	id       string
	finish   string
}

// feed takes the next bytes of the stream.
func (e *events) feed(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			e.keep(b)
			return
		}
		if e.skipping {
			e.skipping = false
		} else if len(e.line) > 0 {
			e.keep(b[:i])
			if !e.skipping {
				e.read(e.line)
			}
			e.skipping = false
		} else {
			e.read(b[:i])
		}
		e.line = e.line[:0]
		b = b[i+1:]
	}
}

func (e *events) keep(b []byte) {
	if e.skipping || len(e.line)+len(b) > maxEventLine {
		e.line, e.skipping = e.line[:0], true
		return
	}
	e.line = append(e.line, b...)
}

// close reads a last line without a newline.
func (e *events) close() {
	if len(e.line) > 0 && !e.skipping {
		e.read(e.line)
		e.line = nil
	}
}

func (e *events) read(line []byte) {
	data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("data:"))
	if !ok {
		return // a comment, an event name or a blank line
	}
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("[DONE]")) {
		e.done = true
		return
	}
	if e.tokens == 0 || bytes.Contains(data, []byte(`"finish_reason":"`)) || bytes.Contains(data, []byte(`"finish_reason": "`)) {
		e.readChoices(data)
	} else if !bytes.Contains(data, []byte(`"choices":[]`)) {
		e.tokens++
	}
	if bytes.Contains(data, []byte(`"usage"`)) {
		if u, ok := readUsage(data); ok {
			e.usage, e.hasUsage = u, true
		}
	}
}

func (e *events) readChoices(data []byte) {
	root := gjson.ParseBytes(data)
	if e.id == "" {
		e.id, e.model = root.Get("id").String(), root.Get("model").String()
	}
	choice := root.Get("choices.0")
	if f := choice.Get("finish_reason"); f.Type == gjson.String {
		e.finish = f.Str
	}
	for _, path := range []string{"delta.content", "text", "delta.reasoning_content", "delta.reasoning"} {
		if v := choice.Get(path); v.Type == gjson.String && v.Str != "" {
			e.tokens++
			return
		}
	}
	if choice.Get("delta.tool_calls.0").Exists() {
		e.tokens++
	}
}

// readUsage reads OpenAI's usage object from a body or an event. Cached tokens
// are -1 if the worker does not report them.
func readUsage(body []byte) (router.Usage, bool) {
	u := gjson.GetBytes(body, "usage")
	if !u.IsObject() {
		return router.Usage{}, false
	}
	out := router.Usage{
		PromptTokens: count(u.Get("prompt_tokens")),
		OutputTokens: count(u.Get("completion_tokens")),
		CachedTokens: -1,
	}
	if c := u.Get("prompt_tokens_details.cached_tokens"); c.Type == gjson.Number {
		out.CachedTokens = count(c)
	}
	return out, true
}

// count reads a number of tokens; what no worker would report counts as zero.
func count(v gjson.Result) int {
	if n := v.Num; n > 0 && n < 1<<30 {
		return int(n)
	}
	return 0
}
