package gateway

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gatewayd/internal/config"
)

// An answer's end is where its framing says, in the version and on the terms of
// the client; the connection serves on exactly when the answer says so (RFC 9112,
// 6.3, 7 and 9.3).
func TestFramingOfAnswers(t *testing.T) {
	const whole = `{"id":"x"}`
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Header.Get("X-Do") {
		case "chunks":
			io.WriteString(w, whole[:3])
			http.NewResponseController(w).Flush()
			io.WriteString(w, whole[3:])
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t")+"data: [DONE]\n\n")
		case "nothing":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, whole)
		}
	})
	w := newWorld(t, nil, f)
	for name, c := range map[string]struct {
		version, fields string
		keeps           bool // the client takes a further answer on its connection
	}{
		"HTTP/1.1":             {"1.1", "Host: g\r\n", true},
		"HTTP/1.1, keep":       {"1.1", "Host: g\r\nConnection: keep-alive\r\n", true},
		"HTTP/1.1, close":      {"1.1", "Host: g\r\nConnection: x, CLOSE\r\n", false},
		"HTTP/1.0":             {"1.0", "", false},
		"HTTP/1.0, keep":       {"1.0", "Connection: Keep-Alive\r\n", true},
		"HTTP/1.0 with a host": {"1.0", "Host: g\r\n", false},
	} {
		for do, want := range map[string]string{"length": whole, "chunks": whole, "stream": event("t") + "data: [DONE]\n\n", "nothing": ""} {
			t.Run(name+", "+do, func(t *testing.T) {
				wire := w.wire(t)
				wire.say("POST /v1/chat/completions HTTP/%s\r\n%sX-Do: %s\r\n%s", c.version, c.fields, do, framed)
				resp, text := wire.hear("POST")
				if resp.StatusCode/100 != 2 || text != want || resp.ProtoMajor != 1 {
					t.Errorf("%s %s %q", resp.Proto, resp.Status, text)
				}
				if ids := resp.Header["X-Request-Id"]; len(ids) != 1 || len(resp.Header["Date"]) != 1 {
					t.Errorf("IDs %q, dates %q", ids, resp.Header["Date"])
				}
				chunked := slices.Contains(resp.TransferEncoding, "chunked") || resp.Header["Transfer-Encoding"] != nil
				if old := c.version == "1.0"; old && chunked {
					t.Error("chunks for HTTP/1.0")
				} else if !old && c.keeps && do == "stream" && !chunked {
					t.Error("a stream without chunks")
				}
				if do == "length" && resp.ContentLength != int64(len(whole)) {
					t.Errorf("the worker's length became %d", resp.ContentLength)
				}
				if do == "nothing" && (resp.Header["Content-Length"] != nil || chunked) {
					t.Errorf("no content has %v", resp.Header)
				}
				switch {
				case !c.keeps && !resp.Close:
					t.Error("the answer does not say that it is the last")
				case c.keeps && c.version == "1.1" && resp.Close:
					t.Error("the connection is not kept")
				case !resp.Close:
					wire.served()
					return
				}
				wire.closed()
			})
		}
	}
	w.idle()
}

// The answer to HEAD is that to GET without its body (RFC 9110, 9.3.2).
func TestHeadHasNoBody(t *testing.T) {
	w := newWorld(t, nil, newFake(t, answerJSON))
	c := w.wire(t)
	for _, path := range []string{"/health", "/readyz", "/v1/models", "/v1/models/m", "/v1/models/none", "/nothing", "/v1/chat/completions"} {
		c.say("GET %s HTTP/1.1\r\nHost: g\r\n\r\n", path)
		get, text := c.hear("GET")
		c.say("HEAD %s HTTP/1.1\r\nHost: g\r\n\r\n", path)
		head, none := c.hear("HEAD")
		if none != "" || text == "" || head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") ||
			head.ContentLength >= 0 && head.ContentLength != int64(len(text)) {
			t.Errorf("%s: GET %s %v, HEAD %s %v", path, get.Status, get.Header, head.Status, head.Header)
		}
		c.served()
	}
}

// Heads have a bound, however they reach it; the answer arrives although there is
// more of the head (RFC 6585, 5; RFC 9112, 3).
func TestHeadsHaveABound(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Limits.HeaderBytes = 8 << 10 }, f)
	for name, c := range map[string]struct {
		send   string
		status []int
	}{
		"a long value":           {chatLine + "X: " + strings.Repeat("x", 64<<10) + "\r\n" + framed, []int{431}},
		"a long name":            {chatLine + strings.Repeat("x", 64<<10) + ": x\r\n" + framed, []int{431}},
		"many fields":            {chatLine + strings.Repeat("A:\r\n", 20<<10) + framed, []int{431}},
		"many different fields":  {chatLine + manyFields(8<<10) + framed, []int{431}},
		"a long target":          {"GET /health?" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: g\r\n\r\n", []int{414, 431}},
		"a long method":          {strings.Repeat("X", 64<<10) + " /health HTTP/1.1\r\nHost: g\r\n\r\n", []int{400, 405, 431, 501}},
		"a head without an end":  {healthLine + "X: " + strings.Repeat("x", 1<<20), []int{431}},
		"a line without an end":  {strings.Repeat("GET", 1<<20), []int{400, 414, 431}},
		"a long chunk extension": {chatLine + pieces(";"+strings.Repeat("x", 64<<10), ""), []int{400, 413, 431}},
		"long trailers":          {chatLine + pieces("", "X: "+strings.Repeat("x", 64<<10)+"\r\n"), []int{400, 413, 431}},
	} {
		t.Run(name, func(t *testing.T) {
			wire := w.wire(t)
			go io.WriteString(wire, c.send) // until all of it is taken, or the connection ends
			resp, text := wire.hear("GET")
			if !slices.Contains(c.status, resp.StatusCode) {
				t.Errorf("%s %q, want one of %v", resp.Status, text, c.status)
			}
			if resp.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s without X-Request-Id", resp.Status)
			}
			wire.Close()
		})
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
	w.idle()
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("A" + strings.Repeat("b", i%50) + string(rune('a'+i%26)) + ":\r\n")
	}
	return b.String()
}

// An error that is known before the body was read arrives whole, while the client
// still sends. Then the connection serves the next request, or ends: the body is
// never taken for a request (RFC 9112, 9.3 and 9.6).
func TestAnswersBeforeTheBody(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Limits.BodyBytes = 64 << 10 }, f)
	for name, c := range map[string]struct {
		line   string
		status int
	}{
		"no path":      {"POST /nothing HTTP/1.1\r\nHost: g\r\n", 404},
		"wrong method": {"PUT /v1/chat/completions HTTP/1.1\r\nHost: g\r\n", 405},
		"encoded":      {chatLine + "Content-Encoding: gzip\r\n", 415},
		"too large":    {chatLine, 413},
	} {
		for _, size := range []int{1 << 10, 100 << 10, 4 << 20} {
			if c.status == http.StatusRequestEntityTooLarge && size < 64<<10 {
				continue
			}
			for _, framing := range []string{"length", "chunks"} {
				t.Run(name+", "+framing, func(t *testing.T) {
					wire := w.wire(t)
					go io.WriteString(wire, c.line+requests(size, framing)+healthLine+"\r\n")
					resp, text := wire.hear("POST")
					if resp.StatusCode != c.status || !strings.HasPrefix(text, `{"error":`) {
						t.Errorf("%d bytes: %s %q", size, resp.Status, text)
					}
					next, err := http.ReadResponse(wire.in, nil)
					if err == nil {
						defer next.Body.Close()
						text, err := io.ReadAll(next.Body)
						if resp.Close || next.StatusCode != http.StatusOK || string(text) != "ok\n" || err != nil {
							t.Errorf("%d bytes: then %s %q, %v", size, next.Status, text, err)
						}
					} else if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
						t.Errorf("%d bytes: then %v", size, err)
					}
					wire.Close()
				})
			}
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
	w.idle()
}

// requests is a body of many requests, which are none.
func requests(size int, framing string) string {
	one := chatLine + framed
	text := strings.Repeat(one, size/len(one)+1)
	if framing == "length" {
		return "Content-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text
	}
	return "Transfer-Encoding: chunked\r\n\r\n" + chunk(text) + "0\r\n\r\n"
}
