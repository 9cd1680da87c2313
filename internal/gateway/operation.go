package gateway

import (
	"maps"
	"slices"
	"strings"
)

// operation is what one path of the API asks of a worker.
type operation struct {
	path     string   // at the gateway, and at workers
	name     string   // by the GenAI conventions, where they have one
	context  []string // fields of the body that stand before the prompt
	prompt   []string // fields that may hold the prompt, in a worker's order; one has to be there
	form     bool     // the body is a multipart form
	light    bool     // takes no pass of the model
	short    bool     // generates nothing, or one token
	splices  bool     // a stream tells its usage if stream_options ask for it
	nameless bool     // names no model where workers serve but one
	typed    bool     // a stream's events say their type
	ends     bool     // a stream says when it has ended
}

var (
	chat = &operation{path: "/v1/chat/completions", name: "chat",
		context: []string{"tools"}, prompt: []string{"messages"}, splices: true, ends: true}
	completion = &operation{path: "/v1/completions", name: "text_completion",
		prompt: []string{"prompt", "prompt_embeds"}, splices: true, ends: true}
	responses = &operation{path: "/v1/responses", name: "chat",
		context: []string{"tools", "instructions"}, prompt: []string{"input"}, typed: true, ends: true}
	messages = &operation{path: "/v1/messages", name: "chat",
		context: []string{"tools", "system"}, prompt: []string{"messages"}, typed: true, ends: true}
	embeddings = &operation{path: "/v1/embeddings", name: "embeddings",
		prompt: []string{"input", "messages"}, short: true}
	rerank = &operation{path: "/v1/rerank", name: "rerank",
		prompt: []string{"query", "documents"}, short: true}
	score = &operation{path: "/v1/score", name: "score",
		prompt: []string{"text_1", "text_2", "queries", "documents", "data_1", "data_2"}, short: true}
	tokenize = &operation{path: "/tokenize", name: "tokenize",
		prompt: []string{"prompt", "messages", "content"}, nameless: true, light: true, short: true}
	detokenize = &operation{path: "/detokenize", name: "detokenize",
		prompt: []string{"tokens"}, nameless: true, light: true, short: true}
	countTokens = &operation{path: "/v1/messages/count_tokens", name: "count_tokens",
		prompt: []string{"messages"}, typed: true, light: true, short: true}
	transcription = &operation{path: "/v1/audio/transcriptions", name: "transcription", form: true, typed: true, ends: true}
	translation   = &operation{path: "/v1/audio/translations", name: "translation", form: true, typed: true, ends: true}
)

// operations are all of them by path.
var operations = byPath(chat, completion, responses, messages, embeddings, rerank, score, tokenize, detokenize, countTokens, transcription, translation)

func byPath(all ...*operation) map[string]*operation {
	m := make(map[string]*operation, len(all))
	for _, op := range all {
		m[op.path] = op
	}
	return m
}

// Paths names the paths of the API, for people.
func Paths() string {
	return strings.Join(slices.Sorted(maps.Keys(operations)), ", ") + " and /v1/models"
}
