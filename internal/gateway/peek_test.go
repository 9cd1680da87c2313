package gateway

import (
	"strings"
	"testing"

	"gatewayd/internal/scan"
)

func TestPeek(t *testing.T) {
	for body, want := range map[string]peeked{
		`{"model":"m","messages":[]}`: {model: "m"},
		`{"model":"org\/m\u00e9 \"x\"","messages":[],"stream":true,"max_tokens":7}`:                  {model: "org/mé \"x\"", stream: true, maxTokens: 7},
		`{"mod\u0065l":"m","messages":[],"max_tokens":5,"max_completion_tokens":9,"stream":null}`:    {model: "m", maxTokens: 9},
		`{"model":"first","messages":[],"model":"last"}`:                                             {model: "last"}, // as workers read it
		`{"model":"m","messages":[],"max_tokens":-3,"user":"u","prompt_cache_key":"k"}`:              {model: "m", user: "u", cacheKey: "k"},
		`{"model":"m","messages":[],"max_tokens":1e30}`:                                              {model: "m", maxTokens: 1 << 30},
		`{"model":"m","messages":[{"model":"inner","stream":true}],"x":{"model":"inner"}}`:           {model: "m"},
		`{"model":"m","messages":[],"stop":["a"],"n":3,"logprobs":5,"tool_choice":{"type":"auto"}}`:  {model: "m"},
		`{"model":"m","messages":[],"stop":"a","logprobs":true,"response_format":{"type":"text"}}  `: {model: "m"},
	} {
		got, err := peek(chat, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if got.model != want.model || got.stream != want.stream || got.maxTokens != want.maxTokens || got.user != want.user || got.cacheKey != want.cacheKey {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// What no reader of JSON should have to stand is refused before anyone reads it.
func TestDeepBodiesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		deep bool
	}{
		"deep":            {`{"model":"m","messages":[` + strings.Repeat("[", 2*scan.MaxDepth), true},
		"deep and closed": {`{"model":"m","messages":` + strings.Repeat("[", scan.MaxDepth) + strings.Repeat("]", scan.MaxDepth) + "}", true},
		"at the limit":    {`{"model":"m","messages":` + strings.Repeat("[", scan.MaxDepth-1) + strings.Repeat("]", scan.MaxDepth-1) + "}", false},
		"wide":            {`{"model":"m","messages":[` + strings.Repeat("[],", 100_000) + "[]]}", false},
		"in a text":       {`{"model":"m","messages":["` + strings.Repeat(`[{\"`, 100_000) + `"]}`, false},
	} {
		_, err := peek(chat, c.body)
		if got := err != nil && strings.Contains(err.message, "deep"); got != c.deep {
			t.Errorf("%s: error %v", name, err)
		}
		if !c.deep && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Thirty megabytes of brackets end no process.
	if _, err := peek(chat, strings.Repeat("[", 30<<20)); err == nil {
		t.Error("thirty megabytes of brackets were accepted")
	}
}
