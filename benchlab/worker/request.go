package worker

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// defaultOutput is the length of an answer when the client sets no limit.
const defaultOutput = 64

// asked is what chat and completion requests have in common. Fields which
// change nothing in a model of time, such as the temperature, are accepted and
// ignored.
type asked struct {
	Model               string `json:"model"`
	MaxTokens           *int   `json:"max_tokens"`
	MaxCompletionTokens *int   `json:"max_completion_tokens"`
	N                   *int   `json:"n"`
	Stream              bool   `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatRequest struct {
	asked
	Messages []message       `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
}

type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

type completionRequest struct {
	asked
	Prompt json.RawMessage `json:"prompt"`
}

// wantsUsage reports whether a stream is to end with a usage event.
func (a *asked) wantsUsage() bool { return a.StreamOptions != nil && a.StreamOptions.IncludeUsage }

// limit returns the length of the answer to a prompt, and why it ends there.
func (s *Server) limit(a *asked, prompt int) (tokens int, reason string, err error) {
	room := s.config.ContextLen - prompt
	if room < 1 {
		return 0, "", s.tooLong(prompt)
	}
	tokens, reason = defaultOutput, "stop"
	for _, most := range []*int{a.MaxTokens, a.MaxCompletionTokens} { // the newer name wins
		if most == nil {
			continue
		}
		if *most < 1 {
			return 0, "", refuse(http.StatusBadRequest, "max_tokens", "max_tokens must be at least 1, got %d.", *most)
		}
		tokens, reason = *most, "length"
	}
	if tokens > room {
		tokens, reason = room, "length"
	}
	if a.N != nil && *a.N != 1 {
		return 0, "", refuse(http.StatusBadRequest, "n", "n must be 1, got %d: this worker gives one answer.", *a.N)
	}
	return tokens, reason, nil
}

func (s *Server) tooLong(prompt int) error {
	return refuse(http.StatusBadRequest, "", "This model's maximum context length is %d tokens. However, your request has %d input tokens."+
		" Please reduce the length of the input.", s.config.ContextLen, prompt)
}

// decode reads a JSON body; its errors are the client's.
func (s *Server) decode(body []byte, into any, model *string) error {
	if err := json.Unmarshal(body, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			field := strings.TrimPrefix(wrong.Field, "asked.")
			return refuse(http.StatusBadRequest, field, "%s has the wrong type: it is a JSON %s.", field, wrong.Value)
		}
		return refuse(http.StatusBadRequest, "", "The request body is not valid JSON: %v.", err)
	}
	if *model == "" {
		return refuse(http.StatusBadRequest, "model", "The request names no model.")
	}
	for _, name := range s.config.Models {
		if *model == name {
			return nil
		}
	}
	return refuse(http.StatusNotFound, "model", "The model `%s` does not exist.", *model)
}
