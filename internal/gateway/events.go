package gateway

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"

	"gatewayd/pkg/router"
)

// maxEventLine bounds the part of a line that is kept while it is incomplete.
// Longer lines are relayed like any other but not read.
const maxEventLine = 256 << 10

// maxFinishes bounds the finish reasons that are kept of one stream.
const maxFinishes = 16

// events reads a stream of server-sent events as it is relayed: where the first
// generated token is, what usage says, whether it ended as it should. It only
// looks; the bytes are relayed as they are, however they are cut.
type events struct {
	typed    bool   // each event says its type
	line     []byte // an incomplete line
	skipping bool   // the rest of a line that was too long
	tokens   int    // events that carried generated content
	usage    router.Usage
	hasUsage bool
	done     bool // data: [DONE] was seen
	failed   bool // the worker itself reported an error
	blamed   bool // ... and says that the client is to blame
	model    string
	id       string
	finishes []string
}

var doneLine = []byte("data: [DONE]")

// feed takes the next bytes of the stream.
func (e *events) feed(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			e.keep(b)
			// The last line may never be ended.
			e.done = e.done || bytes.Equal(e.line, doneLine)
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
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return // a comment, an event name or a blank line
	}
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("[DONE]")) {
		e.done = true
		return
	}
	if e.typed {
		if kind := gjson.GetBytes(data, "type"); kind.Type == gjson.String {
			e.readTyped(kind.Str, gjson.ParseBytes(data))
			return
		}
	}
	switch {
	case isError(data):
		e.failed = true
		status := gjson.GetBytes(data, "error.code").Int()
		e.blamed = status >= 400 && status < 500
		return
	case e.tokens == 0 || bytes.Contains(data, []byte(`"finish_reason":"`)) || bytes.Contains(data, []byte(`"finish_reason": "`)):
		e.readChoices(data)
	case !bytes.Contains(data, []byte(`"choices":[]`)) && !bytes.Contains(data, []byte(`"choices": []`)):
		e.tokens++
	}
	if bytes.Contains(data, []byte(`"usage"`)) {
		if u, ok := readUsage(data); ok {
			e.usage, e.hasUsage = u, true
		}
	}
}

// isError recognises an error that a worker reports within a stream.
func isError(data []byte) bool {
	if bytes.HasPrefix(data, []byte(`{"error"`)) {
		e := gjson.GetBytes(data, "error")
		return e.IsObject() || e.Type == gjson.String
	}
	return bytes.HasPrefix(data, []byte(`{"object":"error"`)) || bytes.HasPrefix(data, []byte(`{"object": "error"`))
}

// readChoices looks for generated content and the reason of an end.
func (e *events) readChoices(data []byte) {
	root := gjson.ParseBytes(data)
	if e.id == "" {
		e.id, e.model = root.Get("id").String(), root.Get("model").String()
	}
	content := false
	root.Get("choices").ForEach(func(_, choice gjson.Result) bool {
		if f := choice.Get("finish_reason"); f.Type == gjson.String && len(e.finishes) < maxFinishes {
			e.finishes = append(e.finishes, f.Str)
		}
		content = content || hasContent(choice)
		return true
	})
	if content {
		e.tokens++
	}
}

// hasContent reports whether a choice carries anything that was generated.
func hasContent(choice gjson.Result) bool {
	return choice.Get("delta.tool_calls.0").Exists() ||
		slices.ContainsFunc([]string{"delta.content", "text", "delta.reasoning_content", "delta.reasoning"}, func(path string) bool {
			v := choice.Get(path)
			return v.Type == gjson.String && v.Str != ""
		})
}
