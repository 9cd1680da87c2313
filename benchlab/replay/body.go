package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Endpoint is the API that requests go to.
type Endpoint string

// The endpoints that traffic can be replayed to.
const (
	Chat        Endpoint = "chat"        // /v1/chat/completions: one message of the user
	Completions Endpoint = "completions" // /v1/completions
)

func (e Endpoint) path() string {
	if e == Completions {
		return "/v1/completions"
	}
	return "/v1/chat/completions"
}

// body is the JSON of one request around its prompt. A prompt's words need no
// escapes.
type body struct {
	head, tail []byte
	prompt     *text
}

// placeholder stands for the prompt while the JSON is made.
const placeholder = "\x01prompt"

// form is what all bodies of a run have in common.
type form struct {
	endpoint Endpoint
	model    string
	exact    bool // ask for answers of exactly the recorded length, past the model's own end
	cacheKey bool // name the session as prompt_cache_key
}

// body returns the body of a request for so many output tokens, at least one.
func (f form) body(prompt *text, output int, session string) *body {
	fields := map[string]any{
		"model": f.model, "stream": true, "stream_options": map[string]bool{"include_usage": true},
		"max_tokens": max(1, output),
	}
	if f.endpoint == Completions {
		fields["prompt"] = placeholder
	} else {
		fields["messages"] = []map[string]string{{"role": "user", "content": placeholder}}
	}
	if f.exact {
		fields["ignore_eos"], fields["min_tokens"] = true, max(1, output)
	}
	if f.cacheKey && session != "" {
		fields["prompt_cache_key"] = session
	}
	whole, _ := json.Marshal(fields)     // maps of plain values
	mark, _ := json.Marshal(placeholder) // a string
	mark = bytes.Trim(mark, `"`)         // stands within quotes
	at := bytes.Index(whole, mark)       // it is there
	return &body{head: whole[:at], tail: whole[at+len(mark):], prompt: prompt}
}

// len is the body's length in bytes.
func (b *body) len() int64 { return int64(len(b.head) + b.prompt.len() + len(b.tail)) }

// open returns the body's bytes, from the start.
func (b *body) open() io.ReadCloser {
	return io.NopCloser(io.MultiReader(bytes.NewReader(b.head), newText(b.prompt.segments), bytes.NewReader(b.tail)))
}

// trimBase takes off what a base URL may end with, so that the API's paths can be
// put behind it.
func trimBase(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "/"), "/v1")
}
