package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/pool"
)

func (w *world) get(method, path string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(b)
}

// Names of models may hold slashes and blanks, escaped or not.
func TestModelNames(t *testing.T) {
	names := []string{"m", "org/model-7b", "hf://org/model", "with blank", "ünïcode", "a%b", "x?y", "q&r"}
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Models = names }, f)
	for _, name := range names {
		for _, path := range []string{url.PathEscape(name), (&url.URL{Path: name}).EscapedPath()} {
			resp, text := w.get(http.MethodGet, "/v1/models/"+path)
			var model struct{ ID string }
			if err := json.Unmarshal([]byte(text), &model); err != nil || resp.StatusCode != http.StatusOK || model.ID != name {
				t.Errorf("%s: %s %s", path, resp.Status, text)
			}
		}
		body, err := json.Marshal(map[string]any{"model": name, "messages": []any{}})
		if err != nil {
			t.Fatal(err)
		}
		if resp, text := w.post("/v1/chat/completions", string(body)); resp.StatusCode != http.StatusOK {
			t.Errorf("a request for %q: %s %s", name, resp.Status, text)
		}
	}
	resp, text := w.get(http.MethodGet, "/v1/models/nothing")
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(text, `\"nothing\"`) || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("unknown: %s %s", resp.Status, text)
	}
}

// HEAD answers as GET does, without a body; nothing else is allowed.
func TestMethods(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for _, path := range []string{"/v1/models", "/v1/models/m", "/health", "/healthz", "/readyz"} {
		resp, text := w.get(http.MethodHead, path)
		if resp.StatusCode != http.StatusOK || text != "" || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("HEAD %s: %s %q", path, resp.Status, text)
		}
		if resp, _ := w.get(http.MethodDelete, path); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("DELETE %s: %s, allowed are %q", path, resp.Status, resp.Header.Get("Allow"))
		}
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/completions", "/v1/embeddings"} {
		for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodPut} {
			if resp, _ := w.get(method, path); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != http.MethodPost {
				t.Errorf("%s %s: %s", method, path, resp.Status)
			}
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
}

// Unknown, empty and ill-typed models are the client's fault, which the error
// names, in bounds.
func TestWrongModels(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for model, want := range map[string]int{`"nothing"`: 404, `""`: 400, `null`: 400, `7`: 400, `["m"]`: 400, `{}`: 400, `true`: 400, `"` + strings.Repeat("x", 1<<20) + `"`: 404, `"M"`: 404, `" m"`: 404} {
		resp, text := w.post("/v1/chat/completions", `{"model":`+model+`,"messages":[]}`)
		var body struct {
			Error struct{ Message, Type, Param, Code string }
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil || resp.StatusCode != want || body.Error.Param != "model" || len(text) > 2000 {
			t.Errorf("model %.20s: %s %.300s", model, resp.Status, text)
		}
		if model == `"nothing"` && !strings.Contains(body.Error.Message, "nothing") {
			t.Errorf("the error does not name the model: %s", body.Error.Message)
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
}

// The list of models is what is known: it waits for no worker, and reading it
// many times at once is safe.
func TestModelsOfManyWorkers(t *testing.T) {
	up := newFake(t, answerJSON)
	down, breakIt := breakable(t, newFake(t, answerJSON))
	w := newWorld(t, func(c *config.Config) {
		c.Workers[0].Models, c.Workers[1].Models = []string{"m", "only-here"}, []string{"m", "only-there"}
	}, up, down)
	breakIt()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				resp, text := w.get(http.MethodGet, "/v1/models")
				var list struct {
					Object string
					Data   []struct{ ID, Object string }
				}
				if err := json.Unmarshal([]byte(text), &list); err != nil || resp.StatusCode != http.StatusOK || list.Object != "list" || len(list.Data) != 3 {
					t.Errorf("%s %s", resp.Status, text)
				}
				if resp, text := w.get(http.MethodGet, "/v1/models/m"); resp.StatusCode != http.StatusOK || !json.Valid([]byte(text)) {
					t.Errorf("%s %s", resp.Status, text)
				}
			}
		})
	}
	all.Wait()
}

// noPools has no pool for any model, as a gateway that has just seen its workers.
type noPools struct{}

func (noPools) Lookup(string) (*pool.Pool, string, bool) { return nil, "", false }

// A model that workers list and no pool serves yet is not unknown, and a gateway
// with nothing else is not ready.
func TestModelWithoutAPool(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	w.gateway.pools = noPools{}
	for model, want := range map[string]int{"m": http.StatusServiceUnavailable, "nothing": http.StatusNotFound} {
		if resp, text := w.post("/v1/chat/completions", `{"model":"`+model+`","messages":[]}`); resp.StatusCode != want {
			t.Errorf("model %s: %s %s", model, resp.Status, text)
		}
	}
	if resp, text := w.get(http.MethodGet, "/readyz"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready: %s %s", resp.Status, text)
	}
}
