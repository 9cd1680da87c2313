package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatewayd/internal/downstream"
	"gatewayd/pkg/router"
)

// apiError is an error that the gateway itself answers with, in OpenAI's form.
type apiError struct {
	status     int
	kind, code string
	param      string
	message    string
	retryAfter time.Duration
	last       bool // nothing more can be read from the client's connection
	typed      bool // for a client that looks for the type of all it gets
}

func (e *apiError) Error() string { return e.message }

type errorBody struct {
	Type  string `json:"type,omitempty"` // Anthropic's mark of an error
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func (e *apiError) body() []byte {
	var b errorBody
	if e.typed {
		b.Type = "error"
	}
	b.Error.Message, b.Error.Type, b.Error.Code = e.message, e.kind, e.code
	if e.param != "" {
		b.Error.Param = &e.param
	}
	out, err := json.Marshal(b)
	if err != nil {
		return []byte(`{"error":{"message":"internal error","type":"server_error","param":null,"code":"internal"}}`)
	}
	return out
}

func (e *apiError) write(w downstream.Writer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(e.retryAfter)))
	}
	if e.last {
		h.Set("Connection", "close")
	}
	body := append(e.body(), '\n')
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.status)
	w.Write(body)
}

// fromRefusal turns a pool's refusal into an answer for the client.
func fromRefusal(r router.Refusal) *apiError {
	e := &apiError{status: http.StatusServiceUnavailable, kind: "server_error", code: r.Code.String(), message: r.Reason, retryAfter: r.RetryAfter}
	switch r.Code {
	case router.QueueFull, router.ByStrategy, router.Paused:
		e.status, e.kind = http.StatusTooManyRequests, "rate_limit_error"
	case router.NoAttempt:
		e.status = http.StatusBadGateway
	}
	if e.retryAfter == 0 && e.status != http.StatusBadGateway {
		e.retryAfter = time.Second
	}
	return e
}

// longestName bounds a model's name in an error.
const longestName = 200

func unknownModel(model string) *apiError {
	if len(model) > longestName {
		model = strings.ToValidUTF8(model[:longestName], "") + "..."
	}
	return &apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "model_not_found", param: "model",
		message: "the model " + strconv.Quote(model) + " is not served by any worker; GET /v1/models lists those that are"}
}

func upstreamError(code, message string, status int) *apiError {
	return &apiError{status: status, kind: "server_error", code: code, message: message}
}
