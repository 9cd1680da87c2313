package gateway

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
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
	kept := http.Header{"Content-Type": {"application/json"}, "X-Kept": {"a", "b"}, "User-Agent": {"u"}}
	client.Set("X-Request-Id", "r") // they get ours
	for name, values := range kept {
		client[name] = values
	}
	got := forward(nil, http1.HeaderOf(client), true).Map()
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
		"X-Gatewayd-Worker": {"w"}, "X-Request-Id": {"r"}, "Set-Cookie": {"x"},
		"Retry-After": {"3"}, "X-Ratelimit-Remaining-Tokens": {"7"}, "Content-Length": {"5"}, "Content-Type": {"text/plain"},
	}
	got = forward(nil, http1.HeaderOf(worker), false).Map()
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
		got := requestID(http1.Header{{Name: "X-Request-Id", Value: id}})
		if (got == id) != taken || got == "" || !harmless(got) {
			t.Errorf("ID %q became %q", id, got)
		}
	}
}

// Header fields beyond the limit, with the target, are refused in the API's own form.
func TestHeadersThatAreTooLarge(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Limits.HeaderBytes = 8 << 10 }, f)
	for _, path := range []string{"/v1/chat/completions", "/v1/models", "/nothing"} {
		for _, c := range []struct{ query, field int }{{0, 9 << 10}, {9 << 10, 0}, {5 << 10, 5 << 10}} {
			resp, text := w.post(path+"?"+strings.Repeat("x", c.query), hello, "X-Long", strings.Repeat("x", c.field))
			if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge || !strings.Contains(text, `"code":"headers_too_large"`) || !strings.Contains(text, "limits.header_bytes") {
				t.Errorf("%s, %v: %s %s", path, c, resp.Status, text)
			}
		}
	}
	if resp, text := w.post("/v1/chat/completions", hello, "X-Long", strings.Repeat("x", 6<<10)); resp.StatusCode != http.StatusOK {
		t.Errorf("within the limit: %s %s", resp.Status, text)
	}
	if n := len(f.seen()); n != 1 {
		t.Errorf("%d requests reached the worker", n)
	}
}

// What belongs to one connection passes in neither direction, however it is sent.
func TestHopByHopHeadersOnTheWire(t *testing.T) {
	f := newRaw(t, func(c net.Conn, r *http.Request, _ []byte) bool {
		for _, name := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Upgrade", "Proxy-Foo", "X-Hop"} {
			if v := r.Header[name]; v != nil {
				t.Errorf("%s: %q reached the worker", name, v)
			}
		}
		return writeRaw(c, "HTTP/1.1 200 OK\r\nConnection: \r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Foo: 1\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\n{}")
	})
	w := newWorld(t, nil, f)
	c := w.dial()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nConnection: \r\nConnection: x-hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: h2c\r\nProxy-Foo: 1\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if h := resp.Header; resp.StatusCode != http.StatusOK || h.Get("X-Kept") != "1" || h["X-Hop"] != nil || h["Keep-Alive"] != nil || h["Proxy-Foo"] != nil || h["Connection"] != nil {
		t.Errorf("%s %v", resp.Status, h)
	}
	w.idle()
}

// When a worker says when to come again, the client learns it, in its own words.
func TestRetryAfterPasses(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		for _, when := range []string{"7", "Fri, 31 Dec 2027 23:59:59 GMT"} {
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				for name, value := range map[string]string{"Retry-After": when, "X-Ratelimit-Limit-Tokens": "100", "X-Ratelimit-Reset-Tokens": "6m0s"} {
					w.Header().Set(name, value)
				}
				w.WriteHeader(status)
			})
			w := newWorld(t, nil, f, newFake(t, f.answer))
			resp, _ := w.post("/v1/chat/completions", hello)
			if h := resp.Header; resp.StatusCode != status || len(h["Retry-After"]) != 1 || h.Get("Retry-After") != when || h.Get("X-Ratelimit-Limit-Tokens") != "100" || h.Get("X-Ratelimit-Reset-Tokens") != "6m0s" {
				t.Errorf("%s %v", resp.Status, h)
			}
			w.idle()
		}
	}
}
