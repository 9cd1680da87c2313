package downstream

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// relayed is the date of an answer that has its own.
const relayed = "Mon, 01 Jan 2024 00:00:00 GMT"

var dates = regexp.MustCompile(`Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

// Answers as they stand on the wire, all of it but the date.
func TestAnswers(t *testing.T) { bothWays(t, testAnswers) }

func testAnswers(t *testing.T) {
	const (
		get = "GET / HTTP/1.1\r\nHost: g\r\n\r\n"
		ok  = "HTTP/1.1 200 OK\r\n"
	)
	type fields = [][2]string
	says := func(all fields, status int, parts ...string) handler {
		return func(w Writer, r *Request) {
			for _, f := range all {
				w.Header().Add(f[0], f[1])
			}
			if status > 0 {
				w.WriteHeader(status)
			}
			for _, p := range parts {
				io.WriteString(w, p)
			}
		}
	}
	large := strings.Repeat("x", 10_000)
	for name, c := range map[string]struct {
		send string
		h    handler
		want string
		ends bool // the connection does
	}{
		"nothing":        {get, says(nil, 0), ok + "Content-Length: 0\r\n\r\n", false},
		"chunks":         {get, says(nil, 0, "hello", "", ", world"), ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", false},
		"a length":       {get, says(fields{{"Content-Length", "5"}}, 0, "he", "llo"), ok + "Content-Length: 5\r\n\r\nhello", false},
		"a status":       {get, says(fields{{"A", "b"}}, 404, "no"), "HTTP/1.1 404 Not Found\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", false},
		"an own status":  {get, says(fields{{"Content-Length", "0"}}, 599), "HTTP/1.1 599 \r\nContent-Length: 0\r\n\r\n", false},
		"only a status":  {get, says(nil, 400), "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
		"large":          {get, says(nil, 0, "a", large, "b"), ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2710\r\n" + large + "\r\n1\r\nb\r\n0\r\n\r\n", false},
		"large, length":  {get, says(fields{{"Content-Length", "10000"}}, 0, large), ok + "Content-Length: 10000\r\n\r\n" + large, false},
		"HEAD":           {"HEAD" + get[3:], says(nil, 0, "hello"), ok + "Transfer-Encoding: chunked\r\n\r\n", false},
		"HEAD, length":   {"HEAD" + get[3:], says(fields{{"Content-Length", "5"}}, 0, "hello"), ok + "Content-Length: 5\r\n\r\n", false},
		"HEAD, no body":  {"HEAD" + get[3:], says(fields{{"Content-Length", "5"}}, 200), ok + "Content-Length: 5\r\n\r\n", false},
		"204":            {get, says(fields{{"Content-Length", "5"}}, 204, "hello"), "HTTP/1.1 204 No Content\r\n\r\n", false},
		"304":            {get, says(nil, 304, "hello"), "HTTP/1.1 304 Not Modified\r\n\r\n", false},
		"interim":        {get, says(fields{{"Content-Length", "0"}}, 103), ok + "Content-Length: 0\r\n\r\n", false},
		"too long":       {get, says(fields{{"Content-Length", "5"}}, 0, "hel", "lo, world"), ok + "Content-Length: 5\r\n\r\nhel", true},
		"too short":      {get, says(fields{{"Content-Length", "5"}}, 0, "hel"), ok + "Content-Length: 5\r\n\r\nhel", true},
		"closes":         {get, says(fields{{"Connection", "close"}, {"Content-Length", "1"}}, 0, "x"), ok + "Content-Length: 1\r\nConnection: close\r\n\r\nx", true},
		"client closes":  {"GET / HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n", says(nil, 0, "x"), ok + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n", true},
		"1.0":            {"GET / HTTP/1.0\r\n\r\n", says(nil, 0, "hello", large), ok + "Connection: close\r\n\r\nhello" + large, true},
		"1.0, length":    {"GET / HTTP/1.0\r\n\r\n", says(fields{{"Content-Length", "1"}}, 0, "x"), ok + "Content-Length: 1\r\nConnection: close\r\n\r\nx", true},
		"1.0, keep":      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", says(fields{{"Content-Length", "1"}}, 0, "x"), ok + "Content-Length: 1\r\nConnection: keep-alive\r\n\r\nx", false},
		"1.0, no length": {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", says(nil, 0, "x"), ok + "Connection: close\r\n\r\nx", true},
		"own framing":    {get, says(fields{{"Transfer-Encoding", "gzip"}, {"Date", relayed}, {"Connection", "X"}}, 200), ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
		"order":          {get, says(fields{{"B", "1"}, {"Content-Length", "1"}, {"C", ""}, {"A", "2"}, {"B", "3"}}, 0, "x"), ok + "B: 1\r\nC: \r\nA: 2\r\nB: 3\r\nContent-Length: 1\r\n\r\nx", false},
		"split values":   {get, says(fields{{"A", "b\r\nC: d\r\n\r\nHTTP/1.1 200 OK"}, {"Content-Length", "0"}}, 200), ok + "A: b  C: d    HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false},
		"split names":    {get, says(fields{{"A: b\r\nC", "d"}, {"E F", "g"}, {"Content-Length", "0"}}, 200), ok + "Content-Length: 0\r\n\r\n", false},
		"no length":      {get, says(fields{{"Content-Length", "5\r\nA: b"}}, 0, "hello"), "", true},
		"minus":          {get, says(fields{{"Content-Length", "-5"}}, 0, "hello"), "", true},
		"no status":      {get, says(nil, 1000, "hello"), "", true},
		"later fields": {get, func(w Writer, r *Request) {
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(201)
			w.Header().Set("A", "b")
			w.Header().Set("Content-Length", "1")
			w.WriteHeader(202)
		}, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w Writer, r *Request) {
				if r.Target == "/next" {
					echo(w, r)
					return
				}
				c.h(w, r)
			}, nil)
			wire := w.wire(t)
			next := ""
			if wire.say("%s", c.send); !c.ends {
				wire.say("GET /next HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")
				next = ok + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n/next\r\n0\r\n\r\n"
			}
			got := wire.rest()
			answers := 1
			if c.want == "" {
				answers = 0
			} else if !c.ends {
				answers++
			}
			if n := len(dates.FindAllString(got, -1)); n != answers {
				t.Errorf("%d dates: %q", n, got)
			}
			if own := strings.Count(got, relayed); (own == 1) != (name == "own framing") {
				t.Errorf("the handler's own date is there %d times: %q", own, got)
			}
			if got := dates.ReplaceAllString(got, ""); got != c.want+next {
				t.Errorf("%q, want %q", got, c.want+next)
			}
		})
	}
}

// The handler is told what cannot be written.
func TestErrorsOfWriting(t *testing.T) { bothWays(t, testErrorsOfWriting) }

func testErrorsOfWriting(t *testing.T) {
	errs := make(chan error, 3)
	w := newWorld(t, func(w Writer, r *Request) {
		w.Header().Set("Content-Length", strings.TrimPrefix(r.Path, "/"))
		_, err := io.WriteString(w, "hello")
		errs <- err
		errs <- w.Flush()
		_, err = io.WriteString(w, "!")
		errs <- err
	}, nil)
	for length, want := range map[string][3]error{
		"6": {}, "5": {2: http.ErrContentLength}, "4": {0: http.ErrContentLength}, "x": {errLength, errLength, errLength},
	} {
		w.wire(t).say("GET /%s HTTP/1.1\r\nHost: g\r\n\r\n", length)
		if got := [3]error{<-errs, <-errs, <-errs}; got != want {
			t.Errorf("%s: %v, want %v", length, got, want)
		}
	}
}

// What is flushed arrives before the handler goes on.
func TestFlush(t *testing.T) { bothWays(t, testFlush) }

func testFlush(t *testing.T) {
	heard := make(chan struct{})
	w := newWorld(t, func(w Writer, r *Request) {
		w.Flush()
		<-heard
		for _, p := range []string{"a", strings.Repeat("b", 5000)} {
			io.WriteString(w, p)
			if err := w.Flush(); err != nil {
				t.Error(err)
			}
			<-heard
		}
	}, nil)
	for _, version := range []string{"1.0", "1.1"} {
		c := w.wire(t)
		c.say("GET / HTTP/%s\r\nHost: g\r\n\r\n", version)
		r, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"a", strings.Repeat("b", 5000)} {
			heard <- struct{}{}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(r.Body, got); err != nil || string(got) != want {
				t.Errorf("%q, %v", got, err)
			}
		}
		heard <- struct{}{}
		if rest, err := io.ReadAll(r.Body); err != nil || len(rest) > 0 {
			t.Errorf("then %q, %v", rest, err)
		}
	}
}
