package gateway

import (
	"testing"

	"gatewayd/pkg/router"
)

// Anthropic's input tokens leave out those of its cache, read and written, which are part
// of the prompt all the same. Cached tokens that are null are not reported, as if they
// were left out.
func TestUsageOfCaches(t *testing.T) {
	for usage, want := range map[string]router.Usage{
		`"input_tokens":3,"cache_read_input_tokens":8,"cache_creation_input_tokens":16,"output_tokens":2`:       {PromptTokens: 27, CachedTokens: 8, OutputTokens: 2},
		`"input_tokens":3,"cache_read_input_tokens":0,"cache_creation_input_tokens":16,"output_tokens":2`:       {PromptTokens: 19, CachedTokens: 0, OutputTokens: 2},
		`"input_tokens":3,"cache_read_input_tokens":8,"cache_creation_input_tokens":null,"output_tokens":2`:     {PromptTokens: 11, CachedTokens: 8, OutputTokens: 2},
		`"input_tokens":3,"cache_read_input_tokens":null,"cache_creation_input_tokens":null,"output_tokens":2`:  {PromptTokens: 3, CachedTokens: -1, OutputTokens: 2},
		`"input_tokens":3,"cache_creation_input_tokens":16,"output_tokens":2`:                                   {PromptTokens: 19, CachedTokens: -1, OutputTokens: 2},
		`"input_tokens":3,"output_tokens":2,"input_tokens_details":{"cached_tokens":null}`:                      {PromptTokens: 3, CachedTokens: -1, OutputTokens: 2},
		`"prompt_tokens":30,"completion_tokens":2,"cache_read_input_tokens":8,"cache_creation_input_tokens":16`: {PromptTokens: 30, CachedTokens: 8, OutputTokens: 2},
		`"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":null}`:                {PromptTokens: 3, CachedTokens: -1, OutputTokens: 2},
		`"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":0}`:                   {PromptTokens: 3, CachedTokens: 0, OutputTokens: 2},
		`"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":null`: {PromptTokens: 3, CachedTokens: -1, OutputTokens: 2},
	} {
		if got, ok := readUsage([]byte(`{"usage":{` + usage + `}}`)); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", usage, got, ok, want)
		}
	}
}
