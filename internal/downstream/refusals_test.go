package downstream

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// What cannot be read is refused with the status that says why, and the connection
// ends; what stands behind is no request, and the client gets to read the answer.
func TestRefusals(t *testing.T) { bothWays(t, testRefusals) }

func testRefusals(t *testing.T) {
	var calls atomic.Int64
	w := newWorld(t, func(Writer, *Request) { calls.Add(1) }, nil)
	const (
		get      = "GET / HTTP/1.1\r\nHost: g\r\n"
		post     = "POST / HTTP/1.1\r\nHost: g\r\n"
		smuggled = "GET /smuggled HTTP/1.1\r\nHost: g\r\n\r\n"
	)
	for name, c := range map[string]struct {
		send   string
		status int // 0: 400
	}{
		"garbage":                    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 0},
		"two empty lines":            {"\r\n\r\n" + get + "\r\n", 0},
		"LF before it":               {"\n" + get + "\r\n", 0},
		"CR before it":               {"\r" + get + "\r\n", 0},
		"no host":                    {"GET / HTTP/1.1\r\n\r\n", 0},
		"a fold":                     {get + "a: b\r\n c\r\n\r\n", 0},
		"HTTP/0.9":                   {"GET /\r\n\r\n", 0},
		"HTTP/2.0":                   {"GET / HTTP/2.0\r\nHost: g\r\n\r\n", 505},
		"almost the preface":         {"PRI * HTTP/2.0\n\n", 505},
		"too large":                  {get + "a: " + strings.Repeat("b", 9<<10) + "\r\n\r\n", 431},
		"endless":                    {get + strings.Repeat("a: b\r\n", 1<<18), 431},
		"an endless line":            {strings.Repeat("G", 2<<20), 431},
		"CL.TE":                      {post + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX", 0},
		"TE.CL":                      {post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n" + smuggled + "\r\n0\r\n\r\n", 0},
		"CL.CL":                      {post + "Content-Length: 0\r\nContent-Length: 50\r\n\r\n", 0},
		"CL, a list":                 {post + "Content-Length: 0, 0\r\n\r\n", 0},
		"CL, plus":                   {post + "Content-Length: +0\r\n\r\n", 0},
		"CL, a space before a colon": {post + "Content-Length : 50\r\n\r\n", 0},
		"CL, NUL":                    {post + "Content-Length: 0\x00\r\n\r\n", 0},
		"CL, CR":                     {post + "Content-Length: 0\r5\r\n\r\n", 0},
		"CL behind a fold":           {post + "X: y\r\n Content-Length: 50\r\n\r\n", 0},
		"TE, HTTP/1.0":               {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		"TE, another":                {post + "Transfer-Encoding: xchunked\r\n\r\n", 501},
		"TE, quoted":                 {post + "Transfer-Encoding: \"chunked\"\r\n\r\n", 501},
		"TE, a list":                 {post + "Transfer-Encoding: identity, chunked\r\n\r\n", 501},
		"TE, twice":                  {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 501},
		"TE, twice chunked":          {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
		"TE, Kelvin":                 {post + "Transfer-Encoding: chun\u212aed\r\n\r\n", 501},
		"TE, no-break space":         {post + "Transfer-Encoding: \u00a0chunked\r\n\r\n", 501},
		"TE, vertical tab":           {post + "Transfer-Encoding: \x0bchunked\r\n\r\n", 0},
		"TE, a space before":         {post + " Transfer-Encoding: chunked\r\n\r\n", 0},
		"TE, a space before a colon": {post + "Transfer-Encoding : chunked\r\n\r\n", 0},
		"TE, a tab before a colon":   {post + "Transfer-Encoding\t: chunked\r\n\r\n", 0},
		"TE, a name with LF":         {post + "Transfer-Encoding\n: chunked\r\n\r\n", 0},
		"TE, a name with NUL":        {post + "Transfer\x00-Encoding: chunked\r\n\r\n", 0},
		"TE, folded":                 {post + "Transfer-Encoding:\r\n chunked\r\n\r\n", 0},
		"TE, behind CR":              {post + "X: y\rTransfer-Encoding: chunked\r\n\r\n", 0},
		"a head that ends with CR":   {post + "X: y\r\n\r\r\n\r\n", 0},
		"a target with a request":    {"GET / HTTP/1.1\rX: GET / HTTP/1.1\r\nHost: g\r\n\r\n", 0},
		"a target with a tab":        {"GET /\tHTTP/1.1 HTTP/1.1\r\nHost: g\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			status := c.status
			if status == 0 {
				status = http.StatusBadRequest
			}
			wire := w.wire(t)
			go io.WriteString(wire, c.send+smuggled) // as far as the server takes it
			r, text := wire.hear("GET")
			if r.StatusCode != status || !r.Close || text == "" {
				t.Errorf("%s %q, close %v", r.Status, text, r.Close)
			}
			wire.closed()
		})
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("%d requests were served", n)
	}
}

// Nothing is answered where nobody has asked, or nobody is there to read it.
func TestSilence(t *testing.T) { bothWays(t, testSilence) }

func testSilence(t *testing.T) {
	w := newWorld(t, func(Writer, *Request) { t.Error("a request was served") }, nil)
	for _, send := range []string{"", "\r", "\r\n", "G", "GET / HTTP/1.1\r\nHost: g\r\n"} {
		c := w.wire(t)
		c.say("%s", send)
		c.CloseWrite()
		c.closed()
	}
}

// A head that comes byte by byte is the head that came at once.
func TestHeadsInPieces(t *testing.T) { bothWays(t, testHeadsInPieces) }

func testHeadsInPieces(t *testing.T) {
	w := newWorld(t, echo, nil)
	c := w.wire(t)
	c.tcp.SetNoDelay(true)
	for range 2 {
		for _, b := range []byte("\r\nPOST /a HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\nA: b\r\n\r\n") {
			c.Write([]byte{b})
		}
		if r, text := c.hear("POST"); r.StatusCode != http.StatusOK || text != "/axyz" {
			t.Errorf("%s %q", r.Status, text)
		}
	}
	// A head longer than a reader's buffer, and a next request right behind it.
	c.say("GET /b HTTP/1.1\r\nHost: g\r\nA: %s\r\n\r\nGET /c HTTP/1.1\r\nHost: g\r\n\r\n", strings.Repeat("a", readBuffer+100))
	for _, want := range []string{"/b", "/c"} {
		if r, text := c.hear("GET"); r.StatusCode != http.StatusOK || text != want {
			t.Errorf("%s %q, want %s", r.Status, text, want)
		}
	}
}

// A refusal says what is wrong with the request.
func TestRefusalsSayWhy(t *testing.T) { bothWays(t, testRefusalsSayWhy) }

func testRefusalsSayWhy(t *testing.T) {
	w := newWorld(t, func(Writer, *Request) {}, nil)
	for send, why := range map[string]string{
		"GET /\r\n\r\n":          "first line",
		"GET / HTTP/1.1\r\n\r\n": "Host",
		"GET / HTTP/1.1\r\nHost: g\r\na: b\r\n c\r\n\r\n":        "header field",
		"GET / HTTP/1.1\r\nHost: g\r\nContent-Length: x\r\n\r\n": "Content-Length",
	} {
		c := w.wire(t)
		c.say("%s", send)
		if got := c.rest(); !strings.Contains(got, why) {
			t.Errorf("%q: %q, want %q in it", send, got, why)
		}
	}
}
