package gateway

import (
	"net/http"
	"testing"
)

func TestForwardable(t *testing.T) {
	client := http.Header{}
	for name, value := range map[string]string{
		"Keep-Alive": "5", "Te": "trailers", "Trailer": "X", "Upgrade": "h2c", "Http2-Settings": "x", "Proxy-Authorization": "x", "Proxy-Foo": "x",
		"Transfer-Encoding": "chunked", "Content-Length": "3", "Expect": "100-continue", "Accept-Encoding": "gzip",
		"Authorization": "x", "X-Api-Key": "x", "api-key": "x", "x-goog-api-key": "x", "Cookie": "x", "X-Auth-Token": "x", "Ocp-Apim-Subscription-Key": "x",
		"X-Gatewayd-Worker": "w", "x-gatewayd-anything": "w", "X-Data-Parallel-Rank": "3", "X-Forwarded-For": "1.2.3.4", "X-Forwarded-User": "root", "Forwarded": "for=x", "X-Real-Ip": "x",
		"Traceparent": "x", "Tracestate": "x", "X-Named": "x", "X-Named-Too": "x",
	} {
		client.Set(name, value)
	}
	client["Connection"] = []string{"", "keep-alive, x-named", " X-NAMED-TOO ,close"}
	kept := http.Header{"Content-Type": {"application/json"}, "X-Kept": {"a", "b"}, "User-Agent": {"u"}, "X-Request-Id": {"r"}}
	for name, values := range kept {
		client[name] = values
	}
	got := forwardable(client, true)
	for name := range got {
		if kept[name] == nil {
			t.Errorf("%s was passed on to a worker", name)
		}
	}
	for name, values := range kept {
		if len(got[name]) != len(values) {
			t.Errorf("%s became %q", name, got[name])
		}
	}

	worker := http.Header{
		"Connection": {"", "x-named"}, "X-Named": {"x"}, "Keep-Alive": {"x"}, "Transfer-Encoding": {"chunked"}, "Trailer": {"x"}, "Proxy-Authenticate": {"x"},
		"X-Gatewayd-Worker": {"w"}, "Set-Cookie": {"x"},
		"Retry-After": {"3"}, "X-Ratelimit-Remaining-Tokens": {"7"}, "Content-Length": {"5"}, "Content-Type": {"text/plain"},
	}
	got = forwardable(worker, false)
	for _, name := range []string{"Retry-After", "X-Ratelimit-Remaining-Tokens", "Content-Length", "Content-Type"} {
		if got.Get(name) == "" {
			t.Errorf("%s was not passed back", name)
		}
		got.Del(name)
	}
	if len(got) > 0 {
		t.Errorf("passed back to the client: %v", got)
	}
}

// What the gateway adds cannot be taken away by naming it.
func TestConnectionCannotRemoveOurHeaders(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	resp, _ := w.post("/v1/chat/completions", hello, "Connection", "X-Request-Id, Content-Length, Traceparent, X-Gatewayd-Worker", "Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	if resp.Header.Get("X-Gatewayd-Worker") == "" || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("the answer's headers: %v", resp.Header)
	}
	got := f.seen()[0]
	if got.header.Get("X-Request-Id") == "" || len(got.header["Traceparent"]) != 1 || got.header.Get("User-Agent") == "" {
		t.Errorf("headers at the worker: %v", got.header)
	}
	if len(got.body) != len(hello) {
		t.Errorf("%d bytes at the worker", len(got.body))
	}
}

func TestQueryKeepsNoSecrets(t *testing.T) {
	for query, want := range map[string]string{
		"":                                   "",
		"api-version=2024-10-21":             "api-version=2024-10-21",
		"key=secret":                         "",
		"a=1&API_KEY=secret&b=%20x&b=2":      "a=1&b=%20x&b=2",
		"%6Bey=secret&access_token=secret&c": "c",
		"%zz=1&x=2":                          "x=2",
	} {
		if got := withoutSecrets(query); got != want {
			t.Errorf("%q became %q, want %q", query, got, want)
		}
	}
}

func TestRequestID(t *testing.T) {
	for id, taken := range map[string]bool{"abc-1_2.3:4/5": true, "": false, "a b": false, "a\r\nX: y": false, "é": false, string(make([]byte, 200)): false} {
		got := requestID(http.Header{"X-Request-Id": {id}})
		if (got == id) != taken || got == "" || !harmless(got) {
			t.Errorf("ID %q became %q", id, got)
		}
	}
}
