package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// operation is an endpoint's kind, by the names of the GenAI conventions.
type operation string

const (
	chat       operation = "chat"
	completion operation = "text_completion"
	embeddings operation = "embeddings"
)

// maxDepth is how deeply a body's arrays and objects may be nested. Readers of
// JSON recurse, here and in workers.
const maxDepth = 1000

// peeked is what the gateway reads of a request's body. The body itself is
// forwarded byte for byte.
type peeked struct {
	model          string
	stream         bool
	maxTokens      int
	user, cacheKey string
	prompt         gjson.Result // messages, prompt or input
	tools          gjson.Result
}

// peek reads the wanted fields of a JSON body in one walk. Unknown fields are
// none of its business. Errors are for the client: they name the field.
func peek(op operation, body string) (peeked, *apiError) {
	if tooDeep(body) {
		return peeked{}, badRequest("", fmt.Sprintf("the body's arrays and objects are nested more than %d deep", maxDepth))
	}
	if !gjson.Valid(body) {
		return peeked{}, badRequest("", "the body is not valid JSON")
	}
	root := gjson.Parse(body)
	if !root.IsObject() {
		return peeked{}, badRequest("", "the body must be a JSON object")
	}
	var p peeked
	var model gjson.Result
	var wrong *apiError
	root.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "model":
			model = v
		case "stream":
			p.stream = v.Bool()
			wrong = orWrong(wrong, v, k.Str, "true or false", gjson.True, gjson.False)
		case "max_tokens", "max_completion_tokens":
			p.maxTokens = max(p.maxTokens, int(min(max(v.Num, 0), 1<<30)))
			wrong = orWrong(wrong, v, k.Str, "a number", gjson.Number)
		case "user":
			p.user = v.String()
		case "prompt_cache_key":
			p.cacheKey = v.String()
		case "tools":
			p.tools = v
		case promptField(op):
			p.prompt = v
		}
		return true
	})
	if wrong != nil {
		return peeked{}, wrong
	}
	if model.Type != gjson.String || model.Str == "" {
		return peeked{}, badRequest("model", "model must be a non-empty string, for example \"model\": \"llama-3.1-8b\"")
	}
	p.model = strings.Clone(model.Str) // it outlives the body
	if !p.prompt.Exists() {
		return peeked{}, badRequest(promptField(op), fmt.Sprintf("%s is missing", promptField(op)))
	}
	if op == chat && !p.prompt.IsArray() {
		return peeked{}, badRequest("messages", "messages must be an array of messages")
	}
	return p, nil
}

// tooDeep reports whether the text nests arrays and objects deeper than
// maxDepth. Text that is no JSON may count either way.
func tooDeep(text string) bool {
	if strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

func promptField(op operation) string {
	switch op {
	case chat:
		return "messages"
	case completion:
		return "prompt"
	default:
		return "input"
	}
}

// orWrong keeps the first complaint about a field's type; null counts as absent.
func orWrong(sofar *apiError, v gjson.Result, field, want string, types ...gjson.Type) *apiError {
	if sofar != nil || v.Type == gjson.Null {
		return sofar
	}
	for _, t := range types {
		if v.Type == t {
			return nil
		}
	}
	return badRequest(field, fmt.Sprintf("%s must be %s", field, want))
}

func badRequest(param, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", code: "invalid_request", param: param, message: message}
}
