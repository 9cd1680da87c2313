package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"gatewayd/internal/scan"
)

// peeked is what the gateway reads of a request's body. The body itself is
// forwarded byte for byte, but for two edits that may become necessary.
type peeked struct {
	model          string // "" if the operation may leave it out
	stream         bool
	maxTokens      int
	user, cacheKey string
	doc            scan.Document
	fields         []scan.Value // the operation's context and prompt, those that are there by their place
	file           string       // of a form

	named edit // of the model's name: from and to
	asks  edit // for a stream's usage; none if it is not to be asked for
}

// peek reads the wanted fields of a JSON body in one walk. Unknown fields are
// none of its business. Errors are for the client: they name the field.
func peek(op *operation, body string) (peeked, *apiError) {
	doc, err := scan.Check(body)
	switch err {
	case scan.ErrDeep:
		return peeked{}, badRequest("", fmt.Sprintf("the body's arrays and objects are nested more than %d deep", scan.MaxDepth))
	case scan.ErrInvalid:
		return peeked{}, badRequest("", "the body is not valid JSON")
	}
	root := doc.Root()
	if !scan.IsObject(root.Raw) {
		return peeked{}, badRequest("", "the body must be a JSON object")
	}
	p := peeked{doc: doc, fields: make([]scan.Value, len(op.context)+len(op.prompt))}
	var model, options gjson.Result
	var wrong *apiError
	doc.Each(root, func(m scan.Value) bool {
		switch m.Name {
		case "model":
			model = value(m)
		case "stream":
			v := value(m)
			p.stream = v.Bool()
			wrong = orWrong(wrong, v, m.Name, "true or false", gjson.True, gjson.False)
		case "stream_options":
			options = value(m)
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			v := value(m)
			p.maxTokens = max(p.maxTokens, int(min(max(v.Num, 0), 1<<30)))
			wrong = orWrong(wrong, v, m.Name, "a number", gjson.Number)
		case "user":
			p.user = value(m).String()
		case "metadata":
			if op == messages {
				p.user = value(m).Get("user_id").String()
			}
		case "prompt_cache_key":
			p.cacheKey = value(m).String()
		default:
			p.field(op, m)
		}
		return true
	})
	if wrong != nil {
		return peeked{}, wrong
	}
	switch {
	case op.nameless && model.Type == gjson.Null: // or absent
	case model.Type != gjson.String || model.Str == "":
		return peeked{}, noModel()
	default:
		p.model = strings.Clone(model.Str) // it outlives the body
		p.named = edit{from: model.Index, to: model.Index + len(model.Raw)}
	}
	if wrong = p.complain(op); wrong == nil && op.splices && p.stream {
		p.asks, wrong = askForUsage(options, root.Index+len(root.Raw)-1)
	}
	return p, wrong
}

// field keeps a field that the operation reads as part of the prompt.
func (p *peeked) field(op *operation, m scan.Value) {
	if i := slices.Index(op.context, m.Name); i >= 0 {
		p.fields[i] = m
	} else if i := slices.Index(op.prompt, m.Name); i >= 0 {
		p.fields[len(op.context)+i] = m
	}
}

// complain says what is wrong with the prompt, nil if it is there in a right form.
func (p *peeked) complain(op *operation) *apiError {
	there := false
	for i, name := range op.prompt {
		raw := p.fields[len(op.context)+i].Raw
		there = there || raw != ""
		if name == "messages" && raw != "" && !scan.IsArray(raw) {
			return badRequest(name, "messages must be an array of messages")
		}
	}
	if !there {
		return badRequest(op.prompt[0], strings.Join(op.prompt, " or ")+" is missing")
	}
	return nil
}

func noModel() *apiError {
	return badRequest("model", "model must be a non-empty string, for example \"model\": \"llama-3.1-8b\"")
}

// value is a value of a checked body. Arrays and objects are not looked into.
func value(v scan.Value) gjson.Result {
	switch v.Raw[0] {
	case '{', '[':
		return gjson.Result{Type: gjson.JSON, Raw: v.Raw, Index: v.Index}
	case '"':
		return gjson.Result{Type: gjson.String, Raw: v.Raw, Str: scan.String(v.Raw), Index: v.Index}
	}
	r := gjson.Parse(v.Raw)
	r.Index = v.Index
	return r
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
