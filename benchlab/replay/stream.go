package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"
)

const (
	lineBytes  = 64 << 10 // of a stream; what of a line is longer is not read
	wholeBytes = 16 << 20 // of an answer that is no stream
)

// answer is what a server's answer says, as far as it was read.
type answer struct {
	now func() time.Time

	first, last time.Time // generated content
	gap         time.Duration
	chunks      int

	prompt, output, cached int // tokens; -1 unless reported
	done                   bool
	finished               bool   // a finish reason came
	failure                string // the server's own word of an error, in band
}

func newAnswer(now func() time.Time) *answer {
	return &answer{now: now, prompt: -1, output: -1, cached: -1}
}

// stream reads server-sent events to their end. A nil error is a clean end of the
// bytes, whether or not the answer was whole.
func (a *answer) stream(from io.Reader) error {
	in := bufio.NewReaderSize(from, lineBytes)
	for !a.done {
		line, err := in.ReadSlice('\n')
		a.line(bytes.TrimRight(line, "\r\n"))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line takes one line of a stream.
func (a *answer) line(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return // a comment, an event's name or a blank line
	}
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("[DONE]")) {
		a.done = true
		return
	}
	a.event(gjson.ParseBytes(data))
}

// event takes one event, or an answer that is no stream.
func (a *answer) event(v gjson.Result) {
	content := false
	v.ForEach(func(key, field gjson.Result) bool {
		switch key.Str {
		case "choices":
			field.ForEach(func(_, choice gjson.Result) bool {
				a.finished = a.finished || choice.Get("finish_reason").Type == gjson.String
				content = content || hasContent(choice)
				return true
			})
		case "usage":
			a.usage(field)
		case "error":
			if field.IsObject() || field.Type == gjson.String {
				a.failure = clip(field.Raw)
			}
		}
		return true
	})
	if v.Get("object").Str == "error" {
		a.failure = clip(v.Raw)
	}
	if content {
		a.chunk()
	}
}

// chunk notes that generated content came.
func (a *answer) chunk() {
	now := a.now()
	if a.chunks++; a.chunks == 1 {
		a.first = now
	} else {
		a.gap = max(a.gap, now.Sub(a.last))
	}
	a.last = now
}

func (a *answer) usage(u gjson.Result) {
	if !u.IsObject() {
		return
	}
	a.prompt, a.output = tokenCount(u.Get("prompt_tokens")), tokenCount(u.Get("completion_tokens"))
	if c := u.Get("prompt_tokens_details.cached_tokens"); c.Type == gjson.Number {
		a.cached = tokenCount(c)
	}
}

// tokenCount reads a number of tokens, -1 if there is none that makes sense.
func tokenCount(v gjson.Result) int {
	if n := v.Num; v.Type == gjson.Number && n >= 0 && n < 1<<30 {
		return int(n)
	}
	return -1
}

// hasContent reports whether a choice carries anything that was generated: a
// chunk with the role alone does not.
func hasContent(choice gjson.Result) bool {
	for _, at := range []string{"delta", "message"} {
		d := choice.Get(at)
		if !d.Exists() {
			continue
		}
		if d.Get("tool_calls.0").Exists() {
			return true
		}
		for _, name := range []string{"content", "reasoning_content", "reasoning"} {
			if d.Get(name).Str != "" {
				return true
			}
		}
	}
	return choice.Get("text").Str != ""
}

// whole reads an answer that is no stream: all of its content comes at its end.
func (a *answer) whole(from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, wholeBytes))
	if err != nil {
		return err
	}
	if !gjson.ValidBytes(data) {
		a.failure = "the answer is neither a stream nor JSON: " + clip(string(data))
		return nil
	}
	a.event(gjson.ParseBytes(data))
	a.done = true
	return nil
}

// clip shortens a server's text for a message.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
