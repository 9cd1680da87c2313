package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// wanted is a right body of every operation that takes JSON.
var wanted = map[string]string{
	"/v1/chat/completions":      hello,
	"/v1/completions":           `{"model":"m","prompt":"hello"}`,
	"/v1/responses":             `{"model":"m","instructions":"be kind","input":[{"role":"user","content":"hi"},{"type":"function_call_output","output":"7"}]}`,
	"/v1/messages":              `{"model":"m","system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"hi"}],"max_tokens":9}`,
	"/v1/messages/count_tokens": `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	"/v1/embeddings":            `{"model":"m","input":["a","b"]}`,
	"/v1/rerank":                `{"model":"m","query":"q","documents":["a",{"text":"b"}],"top_n":1}`,
	"/v1/score":                 `{"model":"m","text_1":"a","text_2":["b","c"]}`,
	"/tokenize":                 `{"model":"m","prompt":"hello","add_special_tokens":false}`,
	"/detokenize":               `{"model":"m","tokens":[1,2,3]}`,
}

// Every operation reaches its path at the worker with the client's bytes, and a
// request that lacks its prompt or model is refused before that.
func TestEveryOperation(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) { io.WriteString(w, r.URL.Path) })
	w := newWorld(t, nil, f)
	refused := 0
	for path, op := range operations {
		kind, body := "application/json", wanted[path]
		if op.form {
			kind, body = formOf(t, "sound", "model", "m", "prompt", "words")
		}
		if body == "" {
			t.Errorf("no request for %s", path)
			continue
		}
		before := len(f.seen())
		resp, text := w.post(path+"/?api-version=1", body, "Content-Type", kind)
		if resp.StatusCode != http.StatusOK || text != path {
			t.Errorf("%s: %s %s", path, resp.Status, text)
			continue
		}
		if got := f.seen()[before]; string(got.body) != body || got.path != path+"?api-version=1" {
			t.Errorf("%s: the worker got %s at %s", path, got.body, got.path)
		}
		misnamed := strings.Replace(body, `"model"`, `"modell"`, 1)
		if op.nameless {
			misnamed = strings.Replace(body, `"model":"m"`, `"model":7`, 1)
		}
		for _, wrong := range []string{`{"model":"m"}`, misnamed, `{"model":"m",`, `[]`, ``, "\xff"} {
			resp, text := w.post(path, wrong, "Content-Type", kind)
			var e struct {
				Error struct{ Message, Type, Code string }
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil || resp.StatusCode != http.StatusBadRequest || e.Error.Message == "" || e.Error.Type == "" || e.Error.Code == "" {
				t.Errorf("%s %.40q: %s %s", path, wrong, resp.Status, text)
			}
			refused++
		}
	}
	w.idle()
	if n := len(f.seen()); n != len(operations) {
		t.Errorf("%d requests reached the worker", n)
	}
	if n := w.metric("gatewayd_requests_total", `code="400"`); n != float64(refused) {
		t.Errorf("%v refusals counted, want %d", n, refused)
	}
	resp, text := w.post("/v1/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(text, "/v1/responses, ") {
		t.Errorf("doubled version: %s %s", resp.Status, text)
	}
}

// What stands before a prompt is part of what makes two of them alike.
func TestAffinityOfOperations(t *testing.T) {
	long := strings.Repeat("be kind ", 100)
	for _, c := range []struct {
		op       *operation
		one, two string
		same     bool
	}{
		{responses, `{"model":"m","input":"a"}`, `{"model":"m","input":"b"}`, false},
		{responses, `{"model":"m","input":[{"role":"user","content":"a"}]}`, `{"model":"m","input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, true},
		{responses, `{"model":"m","input":[{"type":"x","output":"a"}]}`, `{"model":"m","input":[{"type":"x","output":"b"}]}`, false},
		{responses, `{"model":"m","instructions":"x","input":"a"}`, `{"model":"m","instructions":"y","input":"a"}`, false},
		{messages, `{"model":"m","system":"x","messages":[{"role":"user","content":"a"}]}`, `{"model":"m","system":[{"type":"text","text":"x"}],"messages":[{"role":"user","content":"a"}]}`, true},
		{messages, `{"model":"m","system":"x","messages":[]}`, `{"model":"m","system":"y","messages":[]}`, false},
		{messages, `{"model":"m","messages":[],"metadata":{"user_id":"u"}}`, `{"model":"m","messages":[{"role":"user","content":"a"}],"metadata":{"user_id":"u"}}`, true},
		{rerank, `{"model":"m","query":"a","documents":["x"]}`, `{"model":"m","query":"b","documents":["x"]}`, false},
	} {
		if a, b := affine(t, c.op, c.one), affine(t, c.op, c.two); (a.key == b.key) != c.same {
			t.Errorf("%s and %s: one key is %v", c.one, c.two, a.key == b.key)
		}
	}
	a := affine(t, messages, `{"model":"m","system":"`+long+`","messages":[{"role":"user","content":"a"}]}`)
	b := affine(t, messages, `{"model":"m","system":"`+long+`","messages":[{"role":"user","content":"b"}]}`)
	if len(a.blocks) == 0 || a.blocks[0] != b.blocks[0] {
		t.Error("prompts with one system text share no block")
	}
	if light := affine(t, tokenize, `{"model":"m","prompt":"`+long+`"}`); len(light.blocks) > 0 || light.bytes > 0 || light.key == 0 {
		t.Errorf("counting tokens takes %+v", light)
	}
}
