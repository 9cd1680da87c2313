package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// A stream that does not ask for usage is made to, by as few bytes as possible.
func TestUsageIsAskedFor(t *testing.T) {
	const ask = `"include_usage":true`
	for body, want := range map[string]string{
		`{"model":"m","stream":true,"messages":[]}`:                                                  `{"model":"m","stream":true,"messages":[],"stream_options":{` + ask + `}}`,
		"{\"model\":\"m\",\"stream\":true,\"messages\":[] }\n ":                                      `{"model":"m","stream":true,"messages":[] ,"stream_options":{` + ask + "}}\n ",
		`{"stream_options":null,"model":"m","stream":true,"messages":[]}`:                            `{"stream_options":{` + ask + `},"model":"m","stream":true,"messages":[]}`,
		`{"stream_options":{},"model":"m","stream":true,"messages":[]}`:                              `{"stream_options":{` + ask + `},"model":"m","stream":true,"messages":[]}`,
		`{"stream_options":{ "a": 1.50 },"model":"m","stream":true,"messages":[]}`:                   `{"stream_options":{` + ask + `, "a": 1.50 },"model":"m","stream":true,"messages":[]}`,
		` {"stream_options":{"include_usage" : false},"model":"m","stream":true,"messages":[]}`:      ` {"stream_options":{"include_usage" : true},"model":"m","stream":true,"messages":[]}`,
		`{"stream_options":{"include_usage":null},"model":"m","stream":true,"messages":[]}`:          `{"stream_options":{` + ask + `},"model":"m","stream":true,"messages":[]}`,
		`{"stream_options":{"include_usage":true},"model":"m","stream":true,"messages":[]}`:          "",
		`{"stream_options":{"continuous_usage_stats":true},"model":"m","stream":true,"messages":[]}`: "",
		`{"model":"m","stream":false,"messages":[]}`:                                                 "",
		`{"model":"m","messages":[],"stream_options":null}`:                                          "",
	} {
		p, e := peek(chat, body)
		if e != nil {
			t.Errorf("%s: %v", body, e)
			continue
		}
		if want == "" {
			want = body
		}
		if got := strings.Join(edited(body, p.asks), ""); got != want {
			t.Errorf("%s became\n%s, want\n%s", body, got, want)
		}
	}
	for _, options := range []string{`true`, `"include_usage"`, `[]`, `7`, `{"include_usage":"yes"}`, `{"include_usage":1}`} {
		if _, e := peek(chat, `{"model":"m","stream":true,"messages":[],"stream_options":`+options+`}`); e == nil || e.status != http.StatusBadRequest || !strings.HasPrefix(e.param, "stream_options") {
			t.Errorf("options %s: %v", options, e)
		}
	}
}

// FuzzEdits holds that a body with edits is JSON that says the same, but for what
// was to be changed.
func FuzzEdits(f *testing.F) {
	for _, body := range []string{hello, streamed, asking, `{"stream_options" : {"x":[{}],"include_usage":null} ,"stream":true,"mod\u0065l":"\ud83d\ude80","messages":[{"model":"x"}]}`,
		`{"model":"a","model":"b","stream":true,"stream_options":{},"stream_options":null,"messages":[]}`} {
		f.Add(body, `new "name"`)
	}
	f.Fuzz(func(t *testing.T, body, name string) {
		p, e := peek(chat, body)
		if e != nil || strings.ToValidUTF8(name, "") != name {
			return
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		named := p.named
		named.with = string(quoted)
		text := strings.Join(edited(body, p.asks, named), "")
		var before, after map[string]any
		if json.Unmarshal([]byte(body), &before) != nil {
			return // numbers that Go does not hold
		}
		if err := json.Unmarshal([]byte(text), &after); err != nil {
			t.Fatalf("%q became %q: %v", body, text, err)
		}
		if after["model"] != name {
			t.Errorf("%q became %q: the model is %v", body, text, after["model"])
		}
		if options, _ := after["stream_options"].(map[string]any); p.asks != (edit{}) && options["include_usage"] != true {
			t.Errorf("%q became %q: usage is not asked for", body, text)
		}
		for _, m := range []map[string]any{before, after} {
			delete(m, "model")
			delete(m, "stream_options")
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q", body, text)
		}
	})
}

// Whoever does not ask for usage gets the stream without it, and the gateway
// counts it all the same.
func TestUsageOfStreams(t *testing.T) {
	tokens := event("a") + ": comment\n\n" + event(`"usage":{}`)
	stream := tokens + usageEvent + "data: [DONE]\n\n"
	without := tokens + "data: [DONE]\n\n"
	for name, c := range map[string]struct{ options, sent, want string }{
		"none":      {``, stream, without},
		"false":     {`"stream_options":{"include_usage":false},`, stream, without},
		"true":      {`"stream_options":{"include_usage":true},`, stream, stream},
		"CRLF":      {``, strings.ReplaceAll(stream, "\n", "\r\n"), strings.ReplaceAll(without, "\n", "\r\n")},
		"no end":    {``, strings.TrimSpace(stream), strings.TrimSpace(without)},
		"with text": {``, strings.Replace(stream, `"choices":[],"usage"`, `"choices":[{"index":0,"delta":{}}],"usage"`, 1), strings.Replace(stream, `"choices":[],"usage"`, `"choices":[{"index":0,"delta":{}}],"usage"`, 1)},
	} {
		for _, piece := range []int{1, 7, len(c.sent)} {
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
				if !bytes.Contains(body, []byte(`"include_usage":true`)) {
					t.Errorf("%s: the worker was asked %s", name, body)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for rest := c.sent; rest != ""; {
					n := min(piece, len(rest))
					io.WriteString(w, rest[:n])
					http.NewResponseController(w).Flush()
					rest = rest[n:]
				}
			})
			w := newWorld(t, nil, f)
			if _, text := w.post("/v1/chat/completions", `{"model":"m","stream":true,`+c.options+`"messages":[]}`); text != c.want {
				t.Errorf("%s in pieces of %d: the client got\n%q, want\n%q", name, piece, text, c.want)
			}
			w.idle()
			w.counted(name, 11, 8, 2)
		}
	}
}

// A passive gateway changes nothing, and says that its counts are its own.
func TestPassiveUsage(t *testing.T) {
	stream := event("a") + event("b") + "data: [DONE]\n\n"
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		if string(body) != streamed {
			t.Errorf("the worker got %s", body)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	})
	w := newWorld(t, func(c *config.Config) { c.Usage = config.UsagePassive }, f)
	if _, text := w.post("/v1/chat/completions", streamed); text != stream {
		t.Errorf("the client got %q", text)
	}
	w.idle()
	w.counted("nothing reported", 0, 0, 0)
	if in, out := w.metric("gatewayd_tokens_total", `type="input_estimated"`), w.metric("gatewayd_tokens_total", `type="output_estimated"`); in < 1 || out != 2 {
		t.Errorf("%v input and %v output tokens are estimated", in, out)
	}
}
