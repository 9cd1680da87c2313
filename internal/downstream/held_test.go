package downstream

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

// A connection holds on to no field of the requests and answers before, neither where
// it shows nor in the room that it keeps, which is not large, whatever they had and
// their handlers have made of them.
func TestFieldsAreNotHeld(t *testing.T) { bothWays(t, testFieldsAreNotHeld) }

func testFieldsAreNotHeld(t *testing.T) {
	fill := func(w Writer, r *Request) {
		h := w.Header()
		for _, f := range r.Header {
			h.Add("Re-"+f.Name, f.Value)
		}
		h.Add("Re-A000", "again")
		h.Set("Re-A001", "set")
		h.Del("Re-A002")
		r.Header.Add("A000", "again")
		r.Header.Set("A000", "set")
		r.Header.Del("A001")
	}
	own := http1.Header{{Name: "B", Value: "1"}, {Name: "C", Value: "2"}, {Name: "B", Value: "3"}}
	looked := make(chan error, 1)
	w := newWorld(t, func(w Writer, r *Request) {
		if r.Path == "/look" {
			looked <- look(w, r, own)
			return
		}
		fill(w, r)
	}, func(s *http.Server) { s.MaxHeaderBytes = 1 << 20 })
	c := w.wire(t)
	for _, n := range []int{1, 3, keptFields / 2, keptFields - 3, keptFields - 2, keptFields - 1, keptFields, keptFields + 1, 10 * keptFields, 2} {
		for _, size := range []int{0, 10, 1000} {
			var lines strings.Builder
			for i := range n {
				fmt.Fprintf(&lines, "A%03d: %s\r\n", i, strings.Repeat("x", size))
			}
			c.say("GET /fill HTTP/1.1\r\nHost: g\r\n%s\r\n", lines.String())
			want := max(n, 2) // with the one that is set, without the one that is taken out
			if n > 2 {
				want--
			}
			if r, _ := c.hear("GET"); len(r.Header) != want+2 /* Date and Content-Length */ || r.Header.Get("Re-A001") != "set" {
				t.Fatalf("%d fields: %s with %d fields", n, r.Status, len(r.Header))
			}
			c.say("GET /look HTTP/1.1\r\nHost: g\r\nB: 1\r\nC: 2\r\nB: 3\r\n\r\n")
			r, _ := c.hear("GET")
			if err := <-looked; err != nil {
				t.Errorf("behind %d fields of %d bytes: %v", n, size, err)
			}
			if r.Header.Del("Date"); r.StatusCode != http.StatusOK || len(r.Header) != 1 || r.Header.Get("Content-Length") != "0" {
				t.Errorf("behind %d fields of %d bytes: %s %.200q", n, size, r.Status, r.Header)
			}
		}
	}
}

// look says what is wrong with the fields of a request that has own, and of its answer.
func look(w Writer, r *Request, own http1.Header) error {
	answer := *w.Header()
	if !slices.Equal(r.Header, own) || len(answer) > 0 {
		return fmt.Errorf("the request has the fields %.200q, and its answer %.200q", r.Header, answer)
	}
	return errors.Join(held(r.Header), held(answer))
}

// held says what stands in a header's room behind its fields.
func held(h http1.Header) error {
	if cap(h) > keptFields {
		return fmt.Errorf("there is room for %d fields", cap(h))
	}
	for _, f := range h[len(h):cap(h)] {
		if f != (http1.Field{}) {
			return fmt.Errorf("%.100q is held", f)
		}
	}
	return nil
}
