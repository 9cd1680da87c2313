package downstream

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Requests of one connection are answered one by one in their order, whatever their
// bodies, although they come before they can be answered.
func TestPipelining(t *testing.T) { bothWays(t, testPipelining) }

func testPipelining(t *testing.T) {
	w := newWorld(t, echo, nil)
	c := w.wire(t)
	const n = 100
	var all strings.Builder
	body := func(i int) string { return strings.Repeat("b", i%3*i*50) }
	for i := range n {
		switch b := body(i); i % 3 {
		case 0:
			fmt.Fprintf(&all, "GET /%d HTTP/1.1\r\nHost: g\r\n\r\n", i)
		case 1:
			fmt.Fprintf(&all, "\r\nPOST /%d HTTP/1.1\r\nHost: g\r\nContent-Length: %d\r\n\r\n%s", i, len(b), b)
		case 2:
			fmt.Fprintf(&all, "POST /%d HTTP/1.1\nHost: g\nTransfer-Encoding: chunked\n\n%x\r\n%s\r\n0\r\nX: y\r\n\r\n", i, len(b), b)
		}
	}
	all.WriteString("GET /last HTTP/1.0\r\n\r\nGET /never HTTP/1.1\r\nHost: g\r\n\r\n")
	go io.WriteString(c, all.String())
	for i := range n {
		if r, text := c.hear("GET"); r.StatusCode != http.StatusOK || r.Close || text != fmt.Sprint("/", i, body(i)) {
			t.Fatalf("answer %d: %s, close %v, %q", i, r.Status, r.Close, text)
		}
	}
	if r, text := c.hear("GET"); text != "/last" || !r.Close {
		t.Errorf("the last answer: %s %q", r.Status, text)
	}
	c.closed()
}

// A connection serves on only where the whole body was sent (RFC 9112, 9.3): what the
// handler has not read is read behind its answer, within a bound.
func TestUnreadBodies(t *testing.T) { bothWays(t, testUnreadBodies) }

func testUnreadBodies(t *testing.T) {
	w := newWorld(t, func(w Writer, r *Request) {
		w.Header().Set("Content-Length", "0")
		switch r.Path {
		case "/some":
			io.ReadFull(r.Body, make([]byte, 10))
		case "/close":
			r.Body.Close()
			if n, err := r.Body.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("behind Close: %d bytes, %v", n, err)
			}
		}
	}, nil)
	for _, path := range []string{"/none", "/some", "/close"} {
		for size, keeps := range map[int]bool{10: true, 100: true, restBytes: true, 4 * restBytes: false} {
			for _, chunked := range []bool{false, true} {
				c := w.wire(t)
				body := strings.Repeat("GET /smuggled HTTP/1.1\r\nHost: g\r\n\r\n", size)[:size]
				send := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: g\r\nContent-Length: %d\r\n\r\n%s", path, size, body)
				if chunked {
					send = fmt.Sprintf("POST %s HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", path, size, body)
				}
				go io.WriteString(c, send+"GET /next HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")
				r, _ := c.hear("POST")
				rest := c.rest()
				if r.StatusCode != http.StatusOK || strings.HasPrefix(rest, "HTTP/1.1 200") != keeps || strings.Count(rest, "HTTP/1.1") > 1 {
					t.Errorf("%s, %d bytes, chunked %v: %s, then %q", path, size, chunked, r.Status, rest)
				}
				if !chunked && r.Close == keeps {
					t.Errorf("%s, %d bytes: the answer says that it is the last one: %v", path, size, r.Close)
				}
			}
		}
	}
}

// Who asks before it sends a body is told to go on when the handler reads, or nothing,
// and then the connection ends (RFC 9110, 10.1.1).
func TestExpectations(t *testing.T) { bothWays(t, testExpectations) }

func testExpectations(t *testing.T) {
	w := newWorld(t, func(w Writer, r *Request) {
		if r.Path == "/read" {
			echo(w, r)
		}
	}, nil)
	const length = "Host: g\r\nContent-Length: 5\r\n"
	for _, expect := range []string{"Expect: 100-continue\r\n", "Expect: 100-CONTINUE\r\n"} {
		c := w.wire(t)
		for range 2 {
			c.say("POST /read HTTP/1.1\r\n%s%s\r\n", length, expect)
			if r, _ := c.hear("POST"); r.StatusCode != http.StatusContinue {
				t.Fatal(r.Status)
			}
			c.say("hello")
			if r, text := c.hear("POST"); text != "/readhello" || r.Close {
				t.Errorf("%s %q, close %v", r.Status, text, r.Close)
			}
		}
		c.say("POST /not HTTP/1.1\r\n%s%s\r\n", length, expect)
		if r, _ := c.hear("POST"); r.StatusCode != http.StatusOK || !r.Close {
			t.Errorf("unread: %s, close %v", r.Status, r.Close)
		}
		c.closed()

		c = w.wire(t)
		c.say("POST /read HTTP/1.0\r\n%s%s\r\nhello", length, expect)
		if r, text := c.hear("POST"); r.StatusCode != http.StatusOK || text != "/readhello" {
			t.Errorf("HTTP/1.0: %s %q", r.Status, text)
		}

		c = w.wire(t)
		c.say("GET /read HTTP/1.1\r\nHost: g\r\n%s\r\n", expect)
		if r, text := c.hear("GET"); r.StatusCode != http.StatusOK || text != "/read" || r.Close {
			t.Errorf("without a body: %s %q", r.Status, text)
		}
	}
	for _, expect := range []string{"Expect: 200-ok\r\n", "Expect:\r\n", "Expect: 100-continue, x\r\n", "Expect: 100-continue\r\nExpect: 100-continue\r\n"} {
		c := w.wire(t)
		c.say("POST /read HTTP/1.1\r\n%s%s\r\nhello", length, expect)
		if r, _ := c.hear("POST"); r.StatusCode != http.StatusExpectationFailed || !r.Close {
			t.Errorf("%q: %s, close %v", expect, r.Status, r.Close)
		}
		c.closed()
	}
}

// A body that cannot be read to its end is an error of reading, and the connection ends.
func TestBrokenBodies(t *testing.T) { bothWays(t, testBrokenBodies) }

func testBrokenBodies(t *testing.T) {
	w := newWorld(t, echo, nil)
	for _, body := range []string{
		"Content-Length: 9\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\nGET /smuggled HTTP/1.1\r\nHost: g\r\n\r\n",
	} {
		c := w.wire(t)
		c.say("POST / HTTP/1.1\r\nHost: g\r\n%s", body)
		c.CloseWrite()
		if r, text := c.hear("POST"); r.StatusCode != http.StatusBadRequest || !r.Close {
			t.Errorf("%q: %s %q, close %v", body, r.Status, text, r.Close)
		}
		c.closed()
	}
}

// A request has the fields of its own head, however many the one before it on the
// connection had, and whatever its handler has made of them.
func TestFieldsAreTheRequests(t *testing.T) { bothWays(t, testFieldsAreTheRequests) }

func testFieldsAreTheRequests(t *testing.T) {
	w := newWorld(t, func(w Writer, r *Request) {
		for _, f := range r.Header {
			fmt.Fprintf(w, "%s=%s;", f.Name, f.Value)
		}
		r.Header.Set("Made", "up")
		if r.Path == "/without" {
			r.Header = nil
		}
	}, nil)
	c := w.wire(t)
	many := func(n int) (lines, want string) {
		for i := range n {
			lines += fmt.Sprintf("A%03d: %d\r\n", i, n)
			want += fmt.Sprintf("A%03d=%d;", i, n)
		}
		return lines, want
	}
	for _, n := range []int{3, 0, keptFields - 1, 1, keptFields, 2, 10 * keptFields, 1, 0} {
		for _, path := range []string{"/", "/without"} {
			lines, want := many(n)
			c.say("GET %s HTTP/1.1\r\nHost: g\r\n%s\r\n", path, lines)
			if _, got := c.hear(http.MethodGet); got != want {
				t.Errorf("%d fields: %.100q, want %.100q", n, got, want)
			}
		}
	}
}
