package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatewayd/internal/config"
)

// wire is a client of the gateway that writes its bytes itself.
type wire struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

// wire opens a connection that no test waits on for ever.
func (w *world) wire(t testing.TB) *wire {
	c := w.dial()
	c.SetDeadline(time.Now().Add(long))
	return &wire{c, t, bufio.NewReader(c)}
}

func (c *wire) say(format string, a ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, a...); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads one answer to a request with this method.
func (c *wire) hear(method string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil && !(resp.Close && errors.Is(err, syscall.ECONNRESET)) {
		c.t.Errorf("%s broke off: %q, %v", resp.Status, text, err)
	}
	return resp, string(text)
}

// served checks that the connection serves a further request.
func (c *wire) served() {
	c.t.Helper()
	c.say("GET /health HTTP/1.1\r\nHost: g\r\n\r\n")
	if resp, text := c.hear("GET"); resp.StatusCode != http.StatusOK || text != "ok\n" {
		c.t.Errorf("the next request got %s %q", resp.Status, text)
	}
}

// closed checks that the gateway ends the connection and says nothing more.
func (c *wire) closed() {
	c.t.Helper()
	if rest, _ := io.ReadAll(c.in); len(rest) > 0 {
		c.t.Errorf("more came: %q", rest)
	}
}

// Requests as they stand on the wire.
const (
	chatLine   = "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\n"
	healthLine = "GET /health HTTP/1.1\r\nHost: g\r\n"
)

// framed is hello with its length.
var framed = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hello), hello)

// pieces is hello in two chunks, with what belongs to the first of them and what follows the last.
func pieces(extension, trailers string) string {
	return fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n5%s\r\n%s\r\n%x\r\n%s\r\n0\r\n%s\r\n", extension, hello[:5], len(hello)-5, hello[5:], trailers)
}

// What HTTP/1.1 forbids is refused, and the connection ends: nothing behind it
// is taken for a request (RFC 9112, 2.2, 3, 5, 6 and 7.1; RFC 9110, 10.1.1 and 15.5).
func TestMalformedRequestsAreRefused(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for name, c := range map[string]struct {
		send   string
		status int // 0: 400
	}{
		"no version":                   {"GET /health\r\n\r\n", 0},
		"a version of another major":   {"GET /health HTTP/3.0\r\nHost: g\r\n\r\n", 505},
		"garbage":                      {"\x16\x03\x01\x02\x00\r\n\r\n", 0},
		"no host":                      {"GET /health HTTP/1.1\r\n\r\n", 0},
		"two hosts":                    {healthLine + "Host: h\r\n\r\n", 0},
		"a host with a space":          {"GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", 0},
		"a space before a colon":       {healthLine + "X-Y : 1\r\n\r\n", 0},
		"a space before the first":     {"GET /health HTTP/1.1\r\n Host: g\r\n\r\n", 0},
		"no colon":                     {healthLine + "X-Y\r\n\r\n", 0},
		"no name":                      {healthLine + ": 1\r\n\r\n", 0},
		"a name that is no token":      {healthLine + "X(Y): 1\r\n\r\n", 0},
		"NUL in a value":               {healthLine + "X-Y: a\x00b\r\n\r\n", 0},
		"CR in a value":                {healthLine + "X-Y: a\rb\r\n\r\n", 0},
		"a target with a space":        {"GET /he alth HTTP/1.1\r\nHost: g\r\n\r\n", 0},
		"a target of no form":          {"GET health HTTP/1.1\r\nHost: g\r\n\r\n", 0},
		"a broken escape":              {"GET /%zz HTTP/1.1\r\nHost: g\r\n\r\n", 0},
		"two lengths":                  {chatLine + "Content-Length: 5\r\n" + framed, 0},
		"two lengths in one":           {chatLine + "Content-Length: 5, 6\r\n\r\nhello", 0},
		"a length with a sign":         {chatLine + "Content-Length: +5\r\n\r\nhello", 0},
		"a negative length":            {chatLine + "Content-Length: -5\r\n\r\nhello", 0},
		"a hexadecimal length":         {chatLine + "Content-Length: 0x5\r\n\r\nhello", 0},
		"an empty length":              {chatLine + "Content-Length: \r\n\r\n", 0},
		"a length beyond 64 bits":      {chatLine + "Content-Length: 99999999999999999999\r\n\r\n", 0},
		"an unknown transfer encoding": {chatLine + "Transfer-Encoding: gzip\r\n\r\n", 501},
		"an almost chunked encoding":   {chatLine + "Transfer-Encoding: xchunked\r\n\r\n", 501},
		"an unknown expectation":       {chatLine + "Expect: more\r\n" + framed, 417},
		"a length beside chunks":       {chatLine + "Content-Length: 5\r\n" + pieces("", ""), 0},
		"chunks for HTTP/1.0":          {"POST /v1/chat/completions HTTP/1.0\r\nConnection: keep-alive\r\n" + pieces("", ""), 0},
		"a chunk without a size":       {chatLine + "Transfer-Encoding: chunked\r\n\r\n;x\r\nhello\r\n0\r\n\r\n", 0},
		"a chunk with a sign":          {chatLine + "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", 0},
		"a chunk beyond 64 bits":       {chatLine + "Transfer-Encoding: chunked\r\n\r\n1ffffffffffffffff\r\n", 0},
		"a chunk longer than it says":  {chatLine + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", 0},
		"a bare LF behind a size":      {chatLine + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.status
			if want == 0 {
				want = http.StatusBadRequest
			}
			wire := w.wire(t)
			wire.say("%s%s\r\n", c.send, healthLine)
			if resp, text := wire.hear("GET"); resp.StatusCode != want || !resp.Close || !strings.HasPrefix(text, `{"error":`) {
				t.Errorf("%s %q, the connection is kept: %v", resp.Status, text, !resp.Close)
			}
			wire.closed()
		})
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
	w.idle()
}

// What RFC 9112 leaves open is refused, or read in the one way that is safe: the
// worker never gets anything but hello.
func TestAmbiguousRequests(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for name, send := range map[string]string{
		"the same length twice (6.3)":   chatLine + fmt.Sprintf("Content-Length: %d\r\n", len(hello)) + framed,
		"a folded line (5.2)":           chatLine + "X-Folded: a\r\n b\r\n" + framed,
		"bare LF behind a field (2.2)":  strings.ReplaceAll(chatLine, "\r", "") + framed,
		"an empty line before it (2.2)": "\r\n" + chatLine + framed,
	} {
		t.Run(name, func(t *testing.T) {
			c, before := w.wire(t), len(f.seen())
			c.say("%s", send)
			resp, text := c.hear("POST")
			seen := f.seen()[before:]
			switch {
			case resp.StatusCode == http.StatusBadRequest && resp.Close && len(seen) == 0:
				c.closed()
			case resp.StatusCode != http.StatusOK || len(seen) != 1 || string(seen[0].body) != hello:
				t.Errorf("%s %q, %q at the worker", resp.Status, text, seen)
			case name == "a folded line (5.2)" && seen[0].header.Get("X-Folded") != "a b":
				t.Errorf("folded: %q", seen[0].header["X-Folded"])
			}
		})
	}
	w.idle()
}

// Bodies and targets of every form that HTTP/1.1 allows arrive, and the
// connection serves on (RFC 9112, 3.2, 5, 6, 7.1 and 9.3).
func TestFormsOfRequests(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for name, c := range map[string]struct {
		send   string
		status []int // one of them
		calls  int
	}{
		"a length":                 {chatLine + framed, []int{200}, 1},
		"odd capitals and spaces":  {"POST /v1/chat/completions HTTP/1.1\r\nhOST:g\r\nX: \t \r\ncontent-LENGTH:\t" + framed[len("Content-Length: "):], []int{200}, 1},
		"chunks":                   {chatLine + pieces("", ""), []int{200}, 1},
		"chunks, odd capitals":     {chatLine + strings.Replace(pieces("", ""), "chunked", "Chunked", 1), []int{200}, 1},
		"chunk extensions":         {chatLine + pieces(";a=b;c=\"d e\"", ""), []int{200}, 1},
		"trailers":                 {chatLine + "Trailer: X-After\r\n" + pieces("", "X-After: 1\r\nAuthorization: x\r\n"), []int{200}, 1},
		"bytes beyond ASCII":       {chatLine + "X-Kept: \xc3\xa9\xff\r\n" + framed, []int{200}, 1},
		"no length":                {chatLine + "\r\n", []int{400, 411}, 0},
		"CRLF behind a body":       {chatLine + framed + "\r\n", []int{200}, 1},
		"an absolute target":       {"POST http://g/v1/chat/completions HTTP/1.1\r\nHost: other\r\n" + framed, []int{200}, 1},
		"an escaped target":        {"POST /v1/chat/%63ompletions HTTP/1.1\r\nHost: g\r\n" + framed, []int{200}, 1},
		"an empty host":            {"GET /v1/models HTTP/1.1\r\nHost:\r\n\r\n", []int{200}, 0},
		"a later minor version":    {"GET /v1/models HTTP/1.2\r\nHost: g\r\n\r\n", []int{200}, 0},
		"a body that nobody needs": {"GET /v1/models HTTP/1.1\r\nHost: g\r\n" + framed, []int{200}, 0},
		"OPTIONS *":                {"OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\n", []int{200, 204, 404, 405}, 0},
		"CONNECT":                  {"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n", []int{400, 404, 405, 501}, 0},
		"TRACE":                    {"TRACE /v1/models HTTP/1.1\r\nHost: g\r\n\r\n", []int{405, 501}, 0},
		"an unknown method":        {"BREW /v1/models HTTP/1.1\r\nHost: g\r\n\r\n", []int{405, 501}, 0},
		"a method in small":        {"get /v1/models HTTP/1.1\r\nHost: g\r\n\r\n", []int{405, 501}, 0},
		"a web socket":             {"GET /v1/models HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", []int{200}, 0},
		"an upgrade to HTTP/2":     {chatLine + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n" + framed, []int{200}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			wire, before := w.wire(t), len(f.seen())
			wire.say("%s", c.send)
			method, _, _ := strings.Cut(c.send, " ")
			resp, text := wire.hear(method)
			if !slices.Contains(c.status, resp.StatusCode) {
				t.Errorf("%s %q, want one of %v", resp.Status, text, c.status)
			}
			if dates := resp.Header["Date"]; len(dates) != 1 {
				t.Errorf("dates %q", dates)
			}
			seen := f.seen()[before:]
			if len(seen) != c.calls {
				t.Fatalf("%d requests at the worker, want %d", len(seen), c.calls)
			}
			if c.calls > 0 && (string(seen[0].body) != hello || seen[0].header["X-After"] != nil || seen[0].header["Authorization"] != nil || seen[0].header["Upgrade"] != nil) {
				t.Errorf("the worker got %v %q", seen[0].header, seen[0].body)
			}
			if name == "bytes beyond ASCII" && seen[0].header.Get("X-Kept") != "\xc3\xa9\xff" {
				t.Errorf("the worker got %q", seen[0].header["X-Kept"])
			}
			if method == "CONNECT" && resp.Close {
				wire.closed()
				return
			}
			wire.served()
		})
	}
	w.idle()
}

// Requests may be sent before the answers to earlier ones: the answers come in
// their order (RFC 9112, 9.3.2).
func TestPipelinedRequests(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		io.WriteString(w, r.Header.Get("X-Number"))
	})
	w := newWorld(t, nil, f)
	c := w.wire(t)
	const n = 50
	var all strings.Builder
	for i := range n {
		body := framed
		if i%2 == 1 {
			body = pieces("", "")
		}
		fmt.Fprintf(&all, "%sX-Number: %d\r\n%s%s\r\n", chatLine, i, body, healthLine)
	}
	c.say("%s", all.String())
	for i := range n {
		if resp, text := c.hear("POST"); resp.StatusCode != http.StatusOK || text != fmt.Sprint(i) {
			t.Fatalf("answer %d: %s %q", i, resp.Status, text)
		}
		if resp, text := c.hear("GET"); resp.StatusCode != http.StatusOK || text != "ok\n" {
			t.Fatalf("answer behind %d: %s %q", i, resp.Status, text)
		}
	}
	c.served()
	w.idle()
}

// A client that asks before it sends a body is told to go on, or why not. It is
// told nothing if it speaks HTTP/1.0 (RFC 9110, 10.1.1).
func TestExpectedContinue(t *testing.T) {
	f := newFake(t, answerJSON)
	small := func(c *config.Config) { c.Limits.BodyBytes = 1 << 10 }
	w := newWorld(t, small, f)
	head := fmt.Sprintf("Expect: 100-Continue\r\nContent-Length: %d\r\n\r\n", len(hello))

	c := w.wire(t)
	for range 2 {
		c.say("%s", chatLine+head)
		if resp, _ := c.hear("POST"); resp.StatusCode != http.StatusContinue {
			t.Fatalf("first %s", resp.Status)
		}
		c.say("%s", hello)
		if resp, text := c.hear("POST"); resp.StatusCode != http.StatusOK {
			t.Fatalf("then %s %q", resp.Status, text)
		}
	}
	c.served()

	c = w.wire(t)
	c.say("POST /v1/chat/completions HTTP/1.0\r\n%s%s", head, hello)
	if resp, text := c.hear("POST"); resp.StatusCode != http.StatusOK {
		t.Errorf("HTTP/1.0: %s %q", resp.Status, text)
	}
	c.closed()
	w.idle()

	w = setup{pace: &pace{grace: time.Second, rate: 4 << 10, stall: long}, config: small}.world(t, f)
	for name, refused := range map[string]struct {
		send   string
		status int
	}{
		"too large": {chatLine + "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n", 413},
		"encoded":   {chatLine + "Content-Encoding: gzip\r\n" + head, 415},
		"no path":   {"POST /nothing HTTP/1.1\r\nHost: g\r\n" + head, 404},
	} {
		c := w.wire(t)
		c.say("%s", refused.send)
		if resp, text := c.hear("POST"); resp.StatusCode != refused.status || !resp.Close {
			t.Errorf("%s: %s %q, the connection is kept: %v", name, resp.Status, text, !resp.Close)
		}
		c.closed() // whether the body comes is not known
	}
	w.idle()
}

// The preface of HTTP/2 is known however it is cut (RFC 9113, 3.4).
func TestPrefaceInPieces(t *testing.T) {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	w := newWorld(t, nil, newFake(t, answerJSON))
	for cut := 1; cut < len(preface); cut += 5 {
		c := w.wire(t)
		c.say("%s", preface[:cut])
		w.served(t) // the first piece has a chance to be read alone
		c.say("%s", preface[cut:]+"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		head := make([]byte, 9)
		if _, err := io.ReadFull(c.in, head); err != nil || head[3] != 4 || head[4] != 0 {
			t.Errorf("cut at %d: %x, %v, want SETTINGS", cut, head, err)
		}
		c.Close()
	}
}

// served checks that the gateway serves others.
func (w *world) served(t testing.TB) {
	t.Helper()
	c := w.wire(t)
	c.served()
	c.Close()
}
