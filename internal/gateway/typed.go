package gateway

import (
	"strings"

	"github.com/tidwall/gjson"
)

// readTyped reads an event of the Responses API, of Anthropic's Messages API or
// of a transcription.
func (e *events) readTyped(kind string, event gjson.Result) {
	switch kind {
	case "error":
		e.failed = true
		e.blamed = blamesClient(event.Get("error.type").Str)
	case "response.failed":
		e.failed = true
		e.blamed = blamesClient(event.Get("response.error.code").Str)
	case "response.completed", "response.incomplete":
		e.done = true
		e.answer(event.Get("response"))
		e.finish(event.Get("response.status"))
	case "message_start":
		e.answer(event.Get("message"))
	case "message_delta":
		e.used(event.Get("usage"))
		e.finish(event.Get("delta.stop_reason"))
	case "message_stop":
		e.done = true
	case "transcript.text.done":
		e.done = true
		e.used(event.Get("usage"))
	case "content_block_delta":
		e.token(event.Get("delta.text"), event.Get("delta.thinking"), event.Get("delta.partial_json"))
	default:
		if strings.HasSuffix(kind, ".delta") {
			e.token(event.Get("delta"))
		}
	}
}

// blamesClient reports whether a word for an error says that the request was wrong.
func blamesClient(word string) bool {
	return strings.HasPrefix(word, "invalid_") || word == "request_too_large" || word == "not_found_error" || word == "permission_error"
}

// answer reads what a whole answer says of itself.
func (e *events) answer(a gjson.Result) {
	e.id, e.model = a.Get("id").String(), a.Get("model").String()
	e.used(a.Get("usage"))
}

// used takes in a usage object. Anthropic's come in two parts, the second of
// which may leave out what the first one said.
func (e *events) used(object gjson.Result) {
	u, ok := tokens(object.Raw)
	if !ok {
		return
	}
	if e.hasUsage {
		u.PromptTokens, u.CachedTokens = max(u.PromptTokens, e.usage.PromptTokens), max(u.CachedTokens, e.usage.CachedTokens)
	}
	e.usage, e.hasUsage = u, true
}

func (e *events) finish(reason gjson.Result) {
	if reason.Type == gjson.String && len(e.finishes) < maxFinishes {
		e.finishes = append(e.finishes, reason.Str)
	}
}

// token counts an event that carries generated text in one of the fields.
func (e *events) token(texts ...gjson.Result) {
	for _, t := range texts {
		if t.Type == gjson.String && t.Str != "" {
			e.tokens++
			return
		}
	}
}
