package gateway

import (
	"fmt"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// The header that the configuration names makes one session of requests whose
// prompts have nothing in common, and several of those that have.
func TestConfiguredHeadersNameSessions(t *testing.T) {
	r, written := recording(t)
	w := setup{recorder: r, config: func(c *config.Config) { c.Headers.Session = []string{"x-first", "x-second"} }}.world(t, newFake(t, answerJSON))
	for i, header := range [][]string{{"X-First", "a"}, {"X-Second", "b", "X-First", "a"}, {"X-Second", "b"}, {"X-Session-Id", "c"}, {"X-Session-Id", "d"}} {
		prompt := fmt.Sprint("prompt ", min(i, 3))
		w.post("/v1/chat/completions", strings.Replace(hello, "hello", prompt, 1), header...)
		w.idle()
	}
	var keys []string
	_, lines := written()
	for _, l := range lines {
		if l.Session != "" {
			keys = append(keys, fmt.Sprint(l.Session))
		}
	}
	if len(keys) != 5 || keys[0] != keys[1] || keys[1] == keys[2] || keys[2] == keys[3] || keys[3] != keys[4] {
		t.Errorf("sessions %v", keys)
	}
}
