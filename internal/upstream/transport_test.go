package upstream

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

// TestAnswers holds what comes of each kind of answer, and whether its connection is
// used again.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
		body   string
		fails  string // in reading the body, or the head with status 0
		reused bool
	}{
		"with a length":    {ok, 200, "ok", "", true},
		"in chunks":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nTrailer: x\r\n\r\n", 200, "ok", "", true},
		"without a body":   {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", true},
		"behind interim":   {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok, 200, "ok", "", true},
		"an error":         {"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno", 503, "no", "", true},
		"that closes":      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", "", false},
		"HTTP/1.0":         {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", "", false},
		"with more behind": {ok + "HTTP/1.1 200 OK\r\n", 200, "ok", "", false},
		"a switch":         {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 101, "", "", false},
		"too many interim": {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 9) + ok, 0, "", errInterim.Error(), false},
		"a head too large": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead), 0, "", http1.ErrTooLarge.Error(), false},
		"no HTTP":          {"SSH-2.0-x\r\n\r\n", 0, "", "malformed", false},
		"two lengths":      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", 0, "", "Content-Length", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, says(c.answer))
			for range 2 {
				status, body, err := w.ask(t, "question")
				switch {
				case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
					t.Errorf("%v, want an error with %q", err, c.fails)
				case c.fails == "" && (err != nil || status != c.status || body != c.body):
					t.Errorf("%d %q %v, want %d %q", status, body, err, c.status, c.body)
				}
			}
			if n := w.accepted.Load(); (n == 1) != c.reused {
				t.Errorf("%d connections for two requests; reused: %v", n, c.reused)
			}
		})
	}
}

// TestBreaks holds that an answer that breaks off is an error.
func TestBreaks(t *testing.T) {
	for name, answer := range map[string]string{
		"before the head":  "",
		"in the head":      "HTTP/1.1 200 OK\r\nContent-Le",
		"in the body":      ok[:len(ok)-1],
		"in a chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
		"between chunks":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
		"before a trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
	} {
		w := newWorker(t, func(c net.Conn, r *http.Request, in *bufio.Reader) bool {
			says(answer)(c, r, in)
			return false
		})
		if status, body, err := w.ask(t, "question"); err == nil {
			t.Errorf("%s: %d %q without an error", name, status, body)
		}
	}
}

// TestRequest holds what a worker gets.
func TestRequest(t *testing.T) {
	got := make(chan string, 1)
	w := newWorker(t, func(c net.Conn, r *http.Request, _ *bufio.Reader) bool {
		body, _ := io.ReadAll(r.Body)
		got <- strings.Join([]string{r.Method, r.RequestURI, r.Host, r.Header.Get("A"), r.Header.Get("B"), r.Header.Get("Connection"), r.UserAgent(), string(body)}, "|")
		_, err := io.WriteString(c, ok)
		return err == nil
	})
	r := w.request(t, "question")
	r.Header = http1.HeaderOf(http.Header{"A": {"1"}, "B": {"x\r\nC: y"}, "User-Agent": nil, "Connection": {"close"}, "Content-Length": {"1"}})
	r.Host = "other"
	resp, err := w.do(t, r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if g, want := <-got, "POST|/v1/chat/completions?a=b|other|1|x  C: y|||question"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}

// TestEarlyAnswer holds that an answer is read although the worker does not read the
// request, and that the connection is not used again.
func TestEarlyAnswer(t *testing.T) {
	over := make(chan struct{})
	w := newWorker(t, func(c net.Conn, _ *http.Request, _ *bufio.Reader) bool {
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		<-over
		return false
	})
	defer close(over)
	status, body, err := w.ask(t, strings.Repeat("x", 32<<20))
	if status != 413 || body != "no" || err != nil {
		t.Errorf("%d %q %v, want the early answer", status, body, err)
	}
	if c := w.idle.take(w.address); c != nil {
		t.Error("the connection is kept in the middle of a request")
	}
}

// TestLargeRequest holds that a long body arrives whole, and its connection is kept.
func TestLargeRequest(t *testing.T) {
	const size = 3 << 20
	w := newWorker(t, func(c net.Conn, r *http.Request, _ *bufio.Reader) bool {
		n, err := io.Copy(io.Discard, r.Body)
		answer := ok
		if n != size || err != nil {
			answer = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
		}
		_, err = io.WriteString(c, answer)
		return err == nil
	})
	for range 2 {
		resp, err := w.do(t, w.request(t, strings.Repeat("x", size)))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
	}
}

// TestShortBody holds that a body that does not have its length is an error, and
// nothing is sent behind it.
func TestShortBody(t *testing.T) {
	w := newWorker(t, says(ok))
	r := w.request(t, "question")
	r.Length++
	var told error
	if _, err := w.Do(t.Context(), r, wrote(func(err error) { told = err })); !errors.Is(err, errLength) || !errors.Is(told, errLength) {
		t.Errorf("%v, told %v; want errLength", err, told)
	}
}

// TestOthers holds that requests over TLS are for the next transport.
func TestOthers(t *testing.T) {
	w := newWorker(t, says(ok))
	r := w.request(t, "question")
	r.URL.Scheme = "https"
	if resp, err := w.do(t, r); err != errNext || resp != nil {
		t.Errorf("%v, %v", resp, err)
	}
	if w.next.Load() != 1 || w.accepted.Load() != 0 {
		t.Errorf("%d requests for the next, %d connections", w.next.Load(), w.accepted.Load())
	}
}
