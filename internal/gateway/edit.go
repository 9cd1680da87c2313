package gateway

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"gatewayd/internal/fleet"
)

// edit replaces the bytes from..to of a body. The zero edit changes nothing.
type edit struct {
	from, to int
	with     string
}

// edited returns a text with edits made, as the pieces that it consists of: the
// text itself is not copied. Edits must not overlap; their order does not matter.
func edited(text string, edits ...edit) []string {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var pieces []string
	at := 0
	for _, e := range edits {
		if e == (edit{}) {
			continue
		}
		pieces = append(pieces, text[at:e.from], e.with)
		at = e.to
	}
	return append(pieces, text[at:])
}

// pieces is the body as one worker gets it: as the client sent it, but for the
// name of the model if this worker has another one for it, and for the question
// for usage.
func (x *exchange) pieces(m *fleet.Member) []string {
	if x.body == "" {
		return nil // it was let go
	}
	var named edit
	if name := m.NameOf(x.model); x.peeked.model != "" && name != x.peeked.model {
		named = x.peeked.named
		named.with = name
		if !x.op.form {
			quoted, _ := json.Marshal(name) // a string always marshals
			named.with = string(quoted)
		}
	}
	return edited(x.body, named, x.peeked.asks)
}

// askForUsage is the edit that makes a stream tell its usage, none if the client
// asked for it already. options is the body's stream_options, end the place of
// the body's last brace. Options that make usage come with every event would
// change those: they are left alone.
func askForUsage(options gjson.Result, end int) (edit, *apiError) {
	const ask = `"include_usage":true`
	if !options.Exists() {
		return edit{end, end, `,"stream_options":{` + ask + `}`}, nil
	}
	if options.Type == gjson.Null {
		return edit{options.Index, options.Index + len(options.Raw), "{" + ask + "}"}, nil
	}
	if !options.IsObject() {
		return edit{}, badRequest("stream_options", "stream_options must be an object, for example {"+ask+"}")
	}
	var asked, empty, often = gjson.Result{}, true, false
	options.ForEach(func(k, v gjson.Result) bool {
		empty = false
		switch k.Str {
		case "include_usage":
			asked = v
		case "continuous_usage_stats":
			often = true
		}
		return true
	})
	switch {
	case asked.Type == gjson.True || often:
		return edit{}, nil
	case asked.Type == gjson.False, asked.Type == gjson.Null && asked.Exists():
		return edit{asked.Index, asked.Index + len(asked.Raw), "true"}, nil
	case asked.Exists():
		return edit{}, badRequest("stream_options.include_usage", "stream_options.include_usage must be true or false")
	}
	first := options.Index + 1
	if !empty {
		return edit{first, first, ask + ","}, nil
	}
	return edit{first, first, ask}, nil
}
