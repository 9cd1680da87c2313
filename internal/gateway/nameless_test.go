package gateway

import (
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// Engines' own operations may leave the model out, as at the engine, where the workers
// serve but one; the worker gets the bytes as they are. All others must name it.
func TestModelMayBeLeftOut(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Names = map[string]string{"m": "own"} }, f)
	wanted := 0
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/tokenize", `{"content":"hello","add_special":true}`, 200},
		{"/tokenize", `{"prompt":"hello","model":null}`, 200},
		{"/detokenize", `{"tokens":[1,2,3]}`, 200},
		{"/tokenize", `{"content":"hello","model":""}`, 400},
		{"/tokenize", `{"content":"hello","model":7}`, 400},
		{"/tokenize", `{"content":"hello","model":"other"}`, 404},
		{"/tokenize", `{"model":null}`, 400},
		{"/v1/completions", `{"prompt":"hello"}`, 400},
		{"/v1/completions", `{"prompt":"hello","model":null}`, 400},
	} {
		resp, text := w.post(c.path, c.body)
		if resp.StatusCode != c.status {
			t.Errorf("%s %s: %s %s", c.path, c.body, resp.Status, text)
		}
		if c.status != http.StatusOK {
			continue
		}
		wanted++
		if seen := f.seen(); len(seen) != wanted || string(seen[wanted-1].body) != c.body {
			t.Errorf("%s %s: the worker got %d requests", c.path, c.body, len(seen))
		}
	}
	w.idle()
}

// Where they serve more than one it has to be named.
func TestModelOfSeveralIsNamed(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Models = []string{"m", "n"} }, f)
	if resp, text := w.post("/tokenize", `{"content":"hello"}`); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "more than one") {
		t.Errorf("%s %s", resp.Status, text)
	}
	if resp, text := w.post("/tokenize", `{"content":"hello","model":"n"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, text)
	}
	if n := len(f.seen()); n != 1 {
		t.Errorf("%d requests reached the worker", n)
	}
}
