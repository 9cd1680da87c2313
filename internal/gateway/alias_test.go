package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// An alias is answered by workers that know the model by names of their own: each
// gets its own, also after a failure of another, and nothing else is changed.
func TestAliases(t *testing.T) {
	broken, sound := "", make(chan string, 64)
	serve := func(id string) func(w http.ResponseWriter, r *http.Request, body []byte) {
		return func(w http.ResponseWriter, r *http.Request, body []byte) {
			if id == broken {
				panic(http.ErrAbortHandler)
			}
			sound <- id
			answerJSON(w, r, body)
		}
	}
	one, two := newFake(t, serve("one"), "org/Model-8B"), newFake(t, serve("two"), "model:8b")
	setting := func(c *config.Config) {
		c.Workers[0].Names = map[string]string{"m": "org/Model-8B"}
		c.Workers[1].Names = map[string]string{"m": "model:8b"}
		c.Aliases = map[string]string{"gpt-4": "m", "lost": "nothing"}
		c.Breaker.Failures = 1000
	}
	w := newWorld(t, setting, one, two)
	body := func(model string) string {
		return "{\"seed\":9007199254740993,\"temperature\":1.0e-0,\"x\":{\"model\":\"gpt-4\",\"a\":2.50},\"model\" : \"" + model + "\",\n\"messages\":[]}"
	}
	used := map[string]int{}
	for range 40 {
		if resp, text := w.post("/v1/chat/completions", body("gpt-4")); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", resp.Status, text)
		}
		used[<-sound]++
	}
	if used["one"] == 0 || used["two"] == 0 {
		t.Errorf("requests went to %v", used)
	}
	broken = "one"
	for range 8 {
		if resp, text := w.post("/v1/chat/completions", body("m")); resp.StatusCode != http.StatusOK || <-sound != "two" {
			t.Errorf("%s %s", resp.Status, text)
		}
	}
	for f, name := range map[*fake]string{one: "org/Model-8B", two: "model:8b"} {
		for _, r := range f.seen() {
			if string(r.body) != body(name) {
				t.Errorf("the worker got %s", r.body)
			}
		}
	}
	if n := len(one.seen()) + len(two.seen()); n <= 48 {
		t.Errorf("%d calls for 48 requests: the broken worker was never tried", n)
	}
	w.idle()
	if n := w.metric("gen_ai_server_request_duration_seconds_count", `gen_ai_request_model="m"`); n != 48 {
		t.Errorf("%v requests counted for the model", n)
	}
	for _, model := range []string{"lost", "org/Model-8B"} {
		if resp, text := w.post("/v1/chat/completions", body(model)); resp.StatusCode != http.StatusNotFound || !strings.Contains(text, model) {
			t.Errorf("%s: %s %s", model, resp.Status, text)
		}
	}
}

// The model list names aliases beside models, each once.
func TestModelsAndAliases(t *testing.T) {
	f := newFake(t, answerJSON, "m", "n")
	w := newWorld(t, func(c *config.Config) { c.Aliases = map[string]string{"gpt-4": "m", "n": "m", "lost": "nothing"} }, f)
	var list struct{ Data []struct{ ID, Object string } }
	_, text := w.get(http.MethodGet, "/v1/models")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
		if m.Object != "model" {
			t.Errorf("%+v", m)
		}
	}
	if got := strings.Join(ids, " "); got != "gpt-4 m n" {
		t.Errorf("listed are %s", got)
	}
	if resp, text := w.get(http.MethodGet, "/v1/models/gpt-4"); resp.StatusCode != http.StatusOK || !strings.Contains(text, `"gpt-4"`) {
		t.Errorf("%s %s", resp.Status, text)
	}
}

// A form keeps its bytes, but for the name of the model.
func TestAliasInAForm(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) { io.WriteString(w, `{"text":"hi"}`) }, "openai/whisper")
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Names = map[string]string{"m": "openai/whisper"} }, f)
	form := func(model string) string {
		return "preamble\r\n--b \r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\n\x00\xff\r\n--bogus\r\n\r\n--b\r\n" +
			"content-disposition: form-data; name=model\r\n\r\n" + model + "\r\n--b--\r\nepilogue"
	}
	resp, text := w.post("/v1/audio/transcriptions", form("m"), "Content-Type", "multipart/form-data; boundary=b")
	if resp.StatusCode != http.StatusOK || text != `{"text":"hi"}` {
		t.Fatalf("%s %s", resp.Status, text)
	}
	if got := f.seen()[0]; string(got.body) != form("openai/whisper") || got.path != "/v1/audio/transcriptions" || got.header.Get("Content-Type") != "multipart/form-data; boundary=b" {
		t.Errorf("the worker got %q at %s", got.body, got.path)
	}
	w.idle()
}
