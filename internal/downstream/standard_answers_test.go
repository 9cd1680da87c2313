package downstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"testing"
)

// Answers that net/http writes are the handler's.
func TestStandardAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		h      handler
		status int
		values []string // of A
		text   string
	}{
		"nothing":   {func(w Writer, r *Request) {}, 200, nil, ""},
		"no write":  {func(w Writer, r *Request) { w.Header().Add("A", "1"); w.Header().Add("A", "2") }, 200, []string{"1", "2"}, ""},
		"a status":  {func(w Writer, r *Request) { w.Header().Set("A", "1"); w.WriteHeader(404) }, 404, []string{"1"}, ""},
		"a write":   {func(w Writer, r *Request) { w.Header().Set("A", "1"); io.WriteString(w, "hello") }, 200, []string{"1"}, "hello"},
		"a flush":   {func(w Writer, r *Request) { w.Header().Set("A", "1"); w.Flush() }, 200, []string{"1"}, ""},
		"interim":   {func(w Writer, r *Request) { w.WriteHeader(103); w.WriteHeader(100); w.WriteHeader(201) }, 201, nil, ""},
		"no final":  {func(w Writer, r *Request) { w.WriteHeader(103) }, 200, nil, ""},
		"two":       {func(w Writer, r *Request) { w.WriteHeader(201); w.WriteHeader(202) }, 201, nil, ""},
		"behind it": {func(w Writer, r *Request) { io.WriteString(w, "hello"); w.WriteHeader(202); w.WriteHeader(103) }, 200, nil, "hello"},
		"no body": {func(w Writer, r *Request) {
			w.WriteHeader(204)
			if n, err := io.WriteString(w, "hello"); n != 5 || err != nil {
				t.Errorf("a body that is not sent: %d, %v", n, err)
			}
		}, 204, nil, ""},
		"own length": {func(w Writer, r *Request) { w.Header().Set("Content-Length", "5"); io.WriteString(w, "hello") }, 200, nil, "hello"},
		"later fields": {func(w Writer, r *Request) {
			h := w.Header()
			h.Add("A", "1")
			h.Add("B", "2")
			h.Add("A", "3")
			for _, change := range []func(){func() { w.WriteHeader(201) }, func() { io.WriteString(w, "hello") }, func() { w.Flush() }} {
				change()
				h.Set("A", "late")
				h.Add("Late", "x")
				h.Del("B")
			}
			io.WriteString(w, "!")
		}, 201, []string{"1", "3"}, "hello!"},
	} {
		t.Run(name, func(t *testing.T) {
			overStandard(t, func(w Writer, r *Request) {
				w.Header().Set("Date", relayed)
				w.Header().Set("C", "4")
				c.h(w, r)
			}, func(t *testing.T, client *http.Client, url string) {
				interim := func(status int, _ textproto.MIMEHeader) error {
					t.Errorf("an interim answer: %d", status)
					return nil
				}
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: interim})
				r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, text, err := asks(t, client, r)
				if err != nil || resp.StatusCode != c.status || text != c.text {
					t.Fatalf("%v %q, %v, want %d %q", resp, text, err, c.status, c.text)
				}
				h := resp.Header
				if !slices.Equal(h["A"], c.values) || h.Get("C") != "4" || h["Late"] != nil || (h.Get("B") == "2") != (name == "later fields") || !slices.Equal(h["Date"], []string{relayed}) {
					t.Errorf("the fields %q", h)
				}
				if h["Content-Type"] != nil {
					t.Errorf("a guess at what it is: %q", h["Content-Type"])
				}
				if length := resp.ContentLength; name == "own length" && length != 5 || name == "nothing" && length != 0 {
					t.Errorf("length %d", length)
				}
			})
		})
	}
}

// What is flushed arrives before the handler goes on.
func TestStandardFlush(t *testing.T) {
	heard := make(chan struct{})
	overStandard(t, func(w Writer, r *Request) {
		for _, part := range []string{"", "a", "b"} {
			if _, err := io.WriteString(w, part); err != nil {
				t.Error(err)
			}
			if err := w.Flush(); err != nil {
				t.Error(err)
			}
			select {
			case <-heard:
			case <-r.Context().Done():
				t.Errorf("the client waits for %q", part)
			}
		}
	}, func(t *testing.T, c *http.Client, url string) {
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for _, want := range []string{"a", "b"} {
			heard <- struct{}{}
			got := make([]byte, 1)
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
		heard <- struct{}{}
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("then %q, %v", rest, err)
		}
	})
}
