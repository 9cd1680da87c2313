package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"gatewayd/benchlab/engine"
)

// refusal is an error that the client is told about.
type refusal struct {
	status  int
	param   string
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, param, format string, args ...any) error {
	return &refusal{status: status, param: param, message: fmt.Sprintf(format, args...)}
}

// explain turns any error into what the client is told.
func explain(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, engine.ErrTooLarge):
		return &refusal{status: http.StatusBadRequest, message: err.Error()}
	case errors.Is(err, errClosed):
		return &refusal{status: http.StatusServiceUnavailable, message: "The engine is shut down."}
	case errors.Is(err, context.DeadlineExceeded):
		return &refusal{status: http.StatusGatewayTimeout, message: "The request took longer than this worker allows."}
	default:
		return &refusal{status: http.StatusInternalServerError, message: err.Error()}
	}
}

// body is OpenAI's form of an error, with the type names of vLLM.
func (r *refusal) body() []byte {
	kind := strings.ReplaceAll(http.StatusText(r.status), " ", "") + "Error"
	switch r.status {
	case http.StatusUnauthorized:
		kind = "AuthenticationError"
	case http.StatusInternalServerError:
		kind = "InternalServerError"
	}
	var param *string
	if r.param != "" {
		param = &r.param
	}
	return encode(map[string]any{"error": map[string]any{
		"message": r.message, "type": kind, "param": param, "code": r.status,
	}})
}

// fail answers with an error, unless the client is gone.
func fail(w http.ResponseWriter, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	r := explain(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body()) // a client that does not read it has left
}

// reply answers with JSON.
func (s *Server) reply(w http.ResponseWriter, value any) error {
	w.Header().Set("Content-Type", "application/json")
	s.sender(w)(encode(value))
	return nil
}

// encode writes values that always have a JSON form.
func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return []byte("null")
	}
	return data
}

// newID returns an identifier in vLLM's form: a prefix and 128 random bits.
func newID(prefix string) string {
	return fmt.Sprintf("%s-%016x%016x", prefix, rand.Uint64(), rand.Uint64())
}

// completed is an answer in one piece.
type completed struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      *said   `json:"message,omitempty"`
	Text         *string `json:"text,omitempty"`
	Logprobs     *string `json:"logprobs"`
	FinishReason string  `json:"finish_reason"`
	StopReason   *string `json:"stop_reason"`
}

type said struct {
	Role      string   `json:"role"`
	Content   string   `json:"content"`
	ToolCalls []string `json:"tool_calls"`
}

type usage struct {
	PromptTokens     int     `json:"prompt_tokens"`
	TotalTokens      int     `json:"total_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Details          details `json:"prompt_tokens_details"`
}

type details struct {
	CachedTokens int `json:"cached_tokens"`
}

func (j *job) usage(p progress) usage {
	prompt := j.request.PromptTokens
	return usage{prompt, prompt + p.tokens, p.tokens, details{p.cached}}
}
