package downstream

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

// overStandard plays a client of net/http's server that has a handler answer, with TLS
// and each of its protocols. The server's log must not say anything against the handler.
func overStandard(t *testing.T, h handler, play func(t *testing.T, c *http.Client, url string)) {
	for protocol, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			said := &lines{more: make(chan struct{}, 1)}
			s := httptest.NewUnstartedServer(Standard{h})
			s.EnableHTTP2 = h2
			s.Config.ErrorLog = log.New(said, "", 0)
			s.StartTLS()
			defer s.Close()
			play(t, s.Client(), s.URL)
			s.Close()
			if all := said.String(); strings.Contains(all, "superfluous") || strings.Contains(all, "panic") {
				t.Errorf("the log:\n%s", all)
			}
		})
	}
}

// asks sends a request and returns the answer and its body.
func asks(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), long)
	defer cancel()
	resp, err := c.Do(r.WithContext(ctx))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

// asked is a request as its handler has it.
type asked struct {
	Request
	body string
}

// tells is a handler that tells what it was asked.
func tells(to chan<- asked) handler {
	return func(_ Writer, r *Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			b = []byte(err.Error())
		}
		own := asked{*r, string(b)}
		own.Header = slices.Clone(r.Header)
		to <- own
	}
}

// String is all but the fields and the client's address.
func (a asked) String() string {
	return fmt.Sprintf("%s %q path %q query %q for %q, %s (%d.%d), TLS %v, length %d, close %v: %q",
		a.Method, a.Target, a.Path, a.Query, a.Host, a.Proto, a.Major, a.Minor, a.TLS, a.Length, a.Close, a.body)
}

// What a handler is told of a request that net/http has read.
func TestStandardRequests(t *testing.T) {
	got := make(chan asked, 1)
	overStandard(t, tells(got), func(t *testing.T, c *http.Client, url string) {
		version := "HTTP/1.1 (1.1)"
		if strings.HasSuffix(t.Name(), "2.0") {
			version = "HTTP/2.0 (2.0)"
		}
		for _, q := range []struct {
			method, target string
			body           io.Reader
			want           string // behind the version
		}{
			{"GET", "/", nil, "length 0, close false: \"\""},
			{"POST", "/l", strings.NewReader("hello"), "length 5, close false: \"hello\""},
			{"PUT", "/c", io.MultiReader(strings.NewReader("hello")), fmt.Sprintf("length %d, close false: \"hello\"", http1.Unknown)},
			{"DELETE", "/a%20b/%2Fc?x=%31&y", nil, "length 0, close false: \"\""},
		} {
			r, err := http.NewRequest(q.method, url+q.target, q.body)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "g.example:80"
			r.Header["A"] = []string{"1", "2"}
			r.Header.Set("B", "3")
			var local string
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { local = i.Conn.LocalAddr().String() }})
			if resp, _, err := asks(t, c, r.WithContext(ctx)); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %v, %v", q.target, resp, err)
			}
			own := <-got
			want := fmt.Sprintf("%s %q path %q query %q for %q, %s, TLS true, %s", q.method, q.target, r.URL.Path, r.URL.RawQuery, r.Host, version, q.want)
			if own.String() != want {
				t.Errorf("%s,\nwant %s", own, want)
			}
			if own.Remote != local {
				t.Errorf("%s: from %s, want %s", q.target, own.Remote, local)
			}
			h := own.Header
			if a := h.Values("A"); !slices.Equal(a, []string{"1", "2"}) || h.Get("B") != "3" || h.Has("Host") || h.Has("Transfer-Encoding") ||
				!slices.IsSortedFunc(h, func(a, b http1.Field) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("%s: the fields %q", q.target, h)
			}
		}
	})
}

// A request is the same whether this server reads it or net/http's, of each kind of
// target, version and length.
func TestStandardRequestsAreTheSame(t *testing.T) {
	ours, theirs := make(chan asked, 1), make(chan asked, 1)
	own, other := newWorld(t, tells(ours), nil), httptest.NewServer(Standard{tells(theirs)})
	defer other.Close()
	for _, send := range []string{
		"GET / HTTP/1.1\r\nHost: g\r\n\r\n",
		"GET /a%20b/%2Fc?x=%31&y HTTP/1.1\r\nHost: g:80\r\nA: 1\r\nB: 2\r\nA: 3\r\n\r\n",
		"GET /? HTTP/1.1\r\nHost: g\r\n\r\n",
		"GET //h/p HTTP/1.1\r\nHost: g\r\n\r\n",
		"GET http://h:1/p?q HTTP/1.1\r\nHost: g\r\n\r\n",
		"GET http://h HTTP/1.1\r\nHost: g\r\n\r\n",
		"GET * HTTP/1.1\r\nHost: g\r\n\r\n",
		"CONNECT g:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT /path HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: g\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: g\r\nConnection: x, close\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		"POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	} {
		c := own.wire(t)
		c.say("%s", send)
		here := <-ours
		if here.Remote != c.LocalAddr().String() {
			t.Errorf("%q: from %s, want %s", send, here.Remote, c.LocalAddr())
		}
		c = (&world{address: other.Listener.Addr().String()}).wire(t)
		c.say("%s", send)
		there := <-theirs
		if here.String() != there.String() || fmt.Sprint(here.Header.Map()) != fmt.Sprint(there.Header.Map()) {
			t.Errorf("%q is\n%s, %v here, and\n%s, %v there", send, here, here.Header.Map(), there, there.Header.Map())
		}
		c.Close()
	}
}
