package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// form is how an API words its answers.
type form struct {
	prefix string // of IDs
	object string
	place  func(c *choice, text string) // puts the answer where the API has it
	chunk  chunkForm
}

// chunkForm is the JSON around the text of a stream's chunks, from "choices" on.
type chunkForm struct {
	object string
	first  string // a chunk before the first token; none if empty
	before string
	after  string // any token but the last
	last   string // the last one; %q is the finish reason
}

func chatForm() form {
	return form{
		prefix: "chatcmpl", object: "chat.completion",
		place: func(c *choice, text string) {
			c.Message = &said{Role: "assistant", Content: text, ToolCalls: []string{}}
		},
		chunk: chunkForm{
			object: "chat.completion.chunk",
			first:  `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
			before: `"choices":[{"index":0,"delta":{"content":"`,
			after:  `"},"logprobs":null,"finish_reason":null}]}`,
			last:   `"},"logprobs":null,"finish_reason":%q,"stop_reason":null}]}`,
		},
	}
}

func completionForm() form {
	return form{
		prefix: "cmpl", object: "text_completion",
		place: func(c *choice, text string) { c.Text = &text },
		chunk: chunkForm{
			object: "text_completion",
			before: `"choices":[{"index":0,"text":"`,
			after:  `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}`,
			last:   `","logprobs":null,"finish_reason":%q,"stop_reason":null}],"usage":null}`,
		},
	}
}

// events is a chunkForm filled in for one stream.
type events struct {
	chunkForm
	head string
}

func (f form) stream(id, model string, created int64, reason string) events {
	e := events{chunkForm: f.chunk}
	e.head = fmt.Sprintf(`data: {"id":%q,"object":%q,"created":%d,"model":%s,`, id, e.object, created, encode(model))
	e.last = fmt.Sprintf(e.last, reason)
	return e
}

const (
	endOfEvent = "\n\n"
	done       = "data: [DONE]\n\n"
)

// append appends the chunks of the tokens after seen up to now.
func (e *events) append(out []byte, j *job, seen, now int) []byte {
	if seen == 0 && now > 0 && e.first != "" {
		out = append(append(append(out, e.head...), e.first...), endOfEvent...)
	}
	for i := seen; i < now; i++ {
		out = append(append(out, e.head...), e.before...)
		out = append(out, j.answer[i*tokenBytes:(i+1)*tokenBytes]...)
		tail := e.after
		if i+1 == j.request.OutputTokens {
			tail = e.last
		}
		out = append(append(out, tail...), endOfEvent...)
	}
	return out
}

// stream sends tokens as they come, in the order of vLLM: the role, the content
// in one chunk per token, the last with its finish reason, the usage if asked
// for, and [DONE]. Errors are told in the stream, since its status is sent.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, j *job, e events, wantsUsage bool) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	var out []byte
	send := s.sender(w)
	if !send(nil) {
		return
	}
	for seen := 0; ; {
		p, err := j.next(ctx, seen)
		if errors.Is(err, context.Canceled) {
			return // the client has left
		}
		if err != nil {
			out = append(append(out[:0], "data: "...), explain(err).body()...)
			send(append(append(out, endOfEvent...), done...))
			return
		}
		out = e.append(out[:0], j, seen, p.tokens)
		seen = p.tokens
		if p.ended {
			if wantsUsage {
				out = append(append(out, e.head...), `"choices":[],"usage":`...)
				out = append(append(append(out, encode(j.usage(p))...), '}'), endOfEvent...)
			}
			out = append(out, done...)
		}
		if len(out) > 0 && !send(out) || p.ended {
			return
		}
	}
}

// sender returns a function that writes and flushes within the write timeout,
// and reports whether the client took it.
func (s *Server) sender(w http.ResponseWriter) func([]byte) bool {
	control := http.NewResponseController(w)
	return func(data []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(s.config.WriteTimeout)) // not every writer has deadlines
		if _, err := w.Write(data); err != nil {
			return false
		}
		err := control.Flush()
		return err == nil || errors.Is(err, http.ErrNotSupported)
	}
}
