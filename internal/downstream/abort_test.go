package downstream

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// However a handler is broken off, and whatever it has written, unless that is all: the
// client does not take the answer for a whole one, the connection ends, and the server
// goes on.
func TestAborts(t *testing.T) { bothWays(t, testAborts) }

func testAborts(t *testing.T) {
	ways := map[string]func(){
		"abort":  func() { panic(http.ErrAbortHandler) },
		"panic":  func() { panic("oh no") },
		"error":  func() { panic(io.EOF) },
		"goexit": runtime.Goexit,
	}
	answers := map[string]func(w Writer){
		"nothing":        func(w Writer) {},
		"a status":       func(w Writer) { w.WriteHeader(200) },
		"a part":         func(w Writer) { io.WriteString(w, "hello") },
		"a flushed part": func(w Writer) { io.WriteString(w, "hello"); w.Flush() },
		"a large part":   func(w Writer) { io.WriteString(w, strings.Repeat("x", 9000)) },
		"a length": func(w Writer) {
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "hello")
		},
		"all of a length": func(w Writer) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "hello")
		},
	}
	w := newWorld(t, func(w Writer, r *Request) {
		if r.Path == "/fine" {
			echo(w, r)
			return
		}
		answers[r.Header.Get("Answer")](w)
		ways[r.Header.Get("Way")]()
	}, nil)
	for way := range ways {
		for answer := range answers {
			for _, line := range []string{"GET / HTTP/1.1", "GET / HTTP/1.0", "HEAD / HTTP/1.1"} {
				c := w.wire(t)
				c.say("%s\r\nHost: g\r\nAnswer: %s\r\nWay: %s\r\n\r\n", line, answer, way)
				method, _, _ := strings.Cut(line, " ")
				r, err := http.ReadResponse(c.in, &http.Request{Method: method})
				if err == nil {
					_, err = io.ReadAll(r.Body)
				}
				whole := method == "HEAD" && answer == "a flushed part" || method == "GET" && answer == "all of a length"
				if whole != (err == nil) {
					t.Errorf("%s, %s, %s: the answer looks whole: %v, want %v (%v)", line, answer, way, err == nil, whole, err)
				}
				if _, err := c.in.ReadByte(); err == nil {
					t.Errorf("%s, %s, %s: the connection goes on", line, answer, way)
				}
			}
		}
	}
	w.wire(t).ask("/fine", "/fine")
	log := w.log.String()
	if n := strings.Count(log, "panic serving 127.0.0.1:"); n != 2*3*len(answers) || !strings.Contains(log, ": oh no\n") || !strings.Contains(log, ": EOF\n") || !strings.Contains(log, "abort_test.go:") {
		t.Errorf("%d panics in the log:\n%.2000s", n, log)
	}
}
