package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

func typedEvent(kind, fields string) string {
	return "event: " + kind + "\ndata: {" + fields + `"type":"` + kind + "\"}\n\n"
}

var (
	ofResponses = typedEvent("response.created", `"response":{"id":"r","usage":null},`) +
		typedEvent("response.output_text.delta", `"delta":"hé",`) + typedEvent("response.output_text.delta", `"delta":"llo",`)
	responseEnd = typedEvent("response.completed", `"response":{"id":"r","model":"m","status":"completed","usage":{"input_tokens":11,"output_tokens":2,"input_tokens_details":{"cached_tokens":8}}},`)
	ofMessages  = typedEvent("message_start", `"message":{"id":"r","model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":8,"output_tokens":1}},`) +
		typedEvent("ping", "") + typedEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"a"},`) +
		typedEvent("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":"b"},`)
	messageEnd = typedEvent("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2},`) + typedEvent("message_stop", "")
)

// The streams of other APIs have their own first tokens, usage and ends.
func TestTypedStreams(t *testing.T) {
	for path, c := range map[string]struct{ start, end string }{
		"/v1/responses": {ofResponses, responseEnd},
		"/v1/messages":  {ofMessages, messageEnd},
	} {
		body := strings.Replace(wanted[path], "{", `{"stream":true,`, 1)
		sent := c.start + c.end
		f := newFake(t, func(w http.ResponseWriter, r *http.Request, got []byte) {
			if string(got) != body {
				t.Errorf("%s: the worker got %s", path, got)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, sent)
		})
		w := newWorld(t, nil, f)
		if _, text := w.post(path, body); text != sent {
			t.Errorf("%s: the client got %q", path, text)
		}
		w.idle()
		w.counted(path, 11, 8, 2)
		if n := w.metric("gatewayd_requests_total", `outcome="completed"`); n != 1 {
			t.Errorf("%s: %v completed requests counted", path, n)
		}
		if n := w.metric("gen_ai_server_time_to_first_token_seconds_count"); n != 1 {
			t.Errorf("%s: %v first tokens counted", path, n)
		}
		sent = c.start // breaks off
		_, text := w.post(path, body)
		if told := text[len(sent):]; !strings.HasPrefix(told, "\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{") || !strings.Contains(told, "worker_broke") {
			t.Errorf("%s: the client is told %q", path, told)
		}
		w.idle()
	}
}

func TestEndsOfTypedStreams(t *testing.T) {
	for stream, want := range map[string]events{
		ofResponses + responseEnd: {done: true},
		ofResponses:               {},
		ofResponses + typedEvent("response.incomplete", `"response":{"status":"incomplete"},`):         {done: true},
		ofResponses + typedEvent("response.failed", `"response":{"error":{"code":"server_error"}},`):   {failed: true},
		ofResponses + typedEvent("response.failed", `"response":{"error":{"code":"invalid_prompt"}},`): {failed: true, blamed: true},
		ofMessages + messageEnd: {done: true},
		ofMessages:              {},
		ofMessages + typedEvent("error", `"error":{"type":"overloaded_error"},`):                                {failed: true},
		ofMessages + typedEvent("error", `"error":{"type":"invalid_request_error"},`):                           {failed: true, blamed: true},
		typedEvent("transcript.text.delta", `"delta":"a",`) + typedEvent("transcript.text.done", `"text":"a",`): {done: true},
		`data: {"object":"transcription.chunk","choices":[{"delta":{"content":"a"}}]}` + "\n\ndata: [DONE]\n\n": {done: true},
	} {
		got := events{typed: true}
		got.feed([]byte(stream))
		got.close()
		if got.done != want.done || got.failed != want.failed || got.blamed != want.blamed || got.tokens < 1 {
			t.Errorf("%q: %+v", stream, got)
		}
	}
	e := events{typed: true}
	e.feed([]byte(ofMessages + messageEnd))
	if e.usage != (router.Usage{PromptTokens: 11, OutputTokens: 2, CachedTokens: 8}) || len(e.finishes) != 1 || e.finishes[0] != "end_turn" {
		t.Errorf("%+v", e)
	}
}
