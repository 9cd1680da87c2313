package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

// FuzzPeek holds that no body makes a reader fail, that what is accepted is JSON
// to others too, and that a key is a function of the body.
func FuzzPeek(f *testing.F) {
	for _, body := range []string{hello, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"image_url":{}}]},{"content":null,"tool_calls":[{}]}],"tools":[]}`,
		`{"model":"m","prompt":["a",1,[2]],"stream":true,"max_tokens":1e3,"user":"u"}`, `{"model":"\u006d","input":"\ud800"}`, strings.Repeat("[", 2000), `{"model":"m","messages":[1,"a",null,{}]}`, "\xff{}"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, op := range operations {
			if op.form {
				continue
			}
			p, e := peek(op, body)
			if e != nil {
				if e.status != 400 || e.message == "" {
					t.Errorf("error %+v", e)
				}
				continue
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("accepted, but not JSON: %q", body)
			}
			if p.model == "" || p.maxTokens < 0 {
				t.Errorf("%+v", p)
			}
			a := affinityOf(op, p, p.model, "", nil, nil)
			again, _ := peek(op, strings.Clone(body))
			b := affinityOf(op, again, again.model, "", nil, nil)
			if a.key == 0 || a.key != b.key || len(a.blocks) > maxBlocks || a.bytes < blockBytes*len(a.blocks) {
				t.Errorf("affinity %+v, again %+v", a, b)
			}
		}
	})
}

// FuzzEvents holds that a stream is read alike however it is cut, within bounds.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(wholeStream), 7, 300)
	f.Add([]byte("data: [DONE]"), 3, 5)
	f.Add([]byte(event("a")+"\r\r\n\n:\ndata"), 1, 2)
	f.Add([]byte(`data: {"error":{"code":400}}`+"\n"), 9, 9)
	f.Fuzz(func(t *testing.T, stream []byte, one, two int) {
		var whole, cut events
		whole.feed(stream)
		whole.close()
		one, two = min(max(one, 0), len(stream)), min(max(two, 0), len(stream))
		one, two = min(one, two), max(one, two)
		for _, part := range [][]byte{stream[:one], stream[one:two], stream[two:]} {
			cut.feed(bytes.Clone(part))
			if len(cut.line) > maxEventLine {
				t.Errorf("%d bytes of a line are kept", len(cut.line))
			}
		}
		cut.close()
		if whole.tokens != cut.tokens || whole.usage != cut.usage || whole.done != cut.done || whole.failed != cut.failed || whole.id != cut.id || len(whole.finishes) != len(cut.finishes) {
			t.Errorf("whole %+v, cut at %d and %d %+v", whole, one, two, cut)
		}
	})
}

// FuzzForward holds that nothing of one connection, no credential and no
// header of the gateway's own passes, in whatever way it is written.
func FuzzForward(f *testing.F) {
	f.Add("connection", "x-a, X-B", "X-A", "1")
	f.Add("AUTHORIZATION", "Bearer x", "x-gatewayd-worker", "w0")
	f.Add("Proxy-anything", "x", "keep-alive", "x")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		if !isToken(name1) || !isToken(name2) {
			return // the server accepts no such name
		}
		from := http.Header{}
		from.Add(name1, value1)
		from.Add(name2, value2)
		named := func(name string) bool {
			for _, v := range from["Connection"] {
				for n := range strings.SplitSeq(v, ",") {
					if textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(n)) == name {
						return true
					}
				}
			}
			return false
		}
		for _, toWorker := range []bool{true, false} {
			for _, field := range forward(nil, http1.HeaderOf(from), toWorker) {
				name := field.Name
				lower := strings.ToLower(name)
				if named(name) || strings.HasPrefix(lower, "x-gatewayd-") || strings.HasPrefix(lower, "proxy-") || lower == "connection" || lower == "transfer-encoding" {
					t.Errorf("%q passed (to worker: %v)", name, toWorker)
				}
				if toWorker && (lower == "authorization" || lower == "cookie" || lower == "x-api-key" || strings.HasPrefix(lower, "x-forwarded-")) {
					t.Errorf("%q reached a worker", name)
				}
			}
		}
	})
}

func isToken(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !bytes.ContainsRune([]byte("!#$%&'*+-.^_`|~"), rune(c)) {
			return false
		}
	}
	return name != ""
}
