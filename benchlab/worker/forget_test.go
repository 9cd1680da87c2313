package worker

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// TestForgetAnswers: the answer to a first turn is in the cache for the second one,
// unless the worker is told to forget answers.
func TestForgetAnswers(t *testing.T) {
	cached := func(forget bool) (tokens int) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, Config{ForgetAnswers: forget})
			question := strings.Repeat("abc ", 64)
			first := ask(t, s, fmt.Sprintf(`{"role":"user","content":%q}`, question))
			second := ask(t, s, fmt.Sprintf(`{"role":"user","content":%q},{"role":"assistant","content":%q},{"role":"user","content":"more"}`,
				question, first.Choices[0].Message.Content))
			tokens = second.Usage.Details.CachedTokens
		})
		return tokens
	}
	// 64 words and "user", NUL, "assistant", NUL are 67 tokens; 4 blocks of 16.
	if kept, forgotten := cached(false), cached(true); kept <= forgotten || forgotten != 64 {
		t.Errorf("%d tokens of the second turn are cached, %d when answers are forgotten", kept, forgotten)
	}
}

func ask(t *testing.T, s *Server, messages string) (c completed) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, post(t.Context(), `{"model":"llama","max_tokens":64,"messages":[`+messages+`]}`))
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || len(c.Choices) != 1 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return c
}
