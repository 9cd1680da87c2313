package downstream

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// short is a limit that strikes in a test.
const short = 50 * time.Millisecond

// inVirtualTime plays a client of a server whose heads may take a second and whose
// connections may be idle for a minute.
func inVirtualTime(t *testing.T, h handler, play func(t *testing.T, c net.Conn, in *bufio.Reader)) {
	t.Helper()
	var secure *tls.Config
	if isOverTLS(t) {
		secure = certified()
	}
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{
			Base:    &http.Server{ReadHeaderTimeout: time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 10},
			Handler: h,
			Refuse:  refuse,
		})
		near, far := net.Pipe()
		own := s.conn(near)
		if own.encrypt(secure); secure != nil {
			far = tls.Client(far, &tls.Config{InsecureSkipVerify: true})
		}
		s.start(own)
		play(t, far, bufio.NewReader(far))
		far.Close()
		<-s.none
	})
}

// A head that takes too long is answered with 408, and the connection ends.
func TestSlowHead(t *testing.T) { bothWays(t, testSlowHead) }

func testSlowHead(t *testing.T) {
	for _, before := range []int{0, 2} {
		for _, begin := range []string{"G", "GET / HTTP/1.1\r\nHost: g\r\nA: ", "\r\nGET / HTTP/1.1\r\n"} {
			inVirtualTime(t, echo, func(t *testing.T, c net.Conn, in *bufio.Reader) {
				for range before {
					<-time.After(time.Second - 1)
					io.WriteString(c, "GET / HTTP/1.1\r\nHost: g\r\n\r\n")
					if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != http.StatusOK {
						t.Fatal(r, err)
					} else if text, err := io.ReadAll(r.Body); string(text) != "/" || err != nil {
						t.Fatalf("%q, %v", text, err)
					}
				}
				io.WriteString(c, begin)
				since := time.Now()
				r, err := http.ReadResponse(in, nil)
				if err != nil || r.StatusCode != http.StatusRequestTimeout || !r.Close || time.Since(since) != time.Second {
					t.Errorf("%q: %v, %v after %v", begin, r, err, time.Since(since))
				}
				r.Body.Close()
				if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
					t.Errorf("%q: then %q, %v", begin, rest, err)
				}
			})
		}
	}
}

// A request has arrived when its head is there: what a slow head takes is not its time.
func TestArrival(t *testing.T) { bothWays(t, testArrival) }

func testArrival(t *testing.T) {
	var late time.Duration
	inVirtualTime(t, func(_ Writer, r *Request) { late = time.Since(r.Arrived) }, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		for range 2 {
			for _, part := range []string{"G", "ET / HTTP/1.1\r\nHost:", "g\r\n\r\n"} {
				<-time.After(300 * time.Millisecond)
				io.WriteString(c, part)
			}
			if r, err := http.ReadResponse(in, nil); err != nil || r.StatusCode != http.StatusOK || late != 0 {
				t.Errorf("%v, %v; the request had arrived %v before", r, err, late)
			}
		}
	})
}

// A connection without a request ends without a word: a new one when a head is due, one
// that has served after the idle time.
func TestIdleTime(t *testing.T) { bothWays(t, testIdleTime) }

func testIdleTime(t *testing.T) {
	for _, begin := range []string{"", "\r", "\r\n"} {
		inVirtualTime(t, echo, func(t *testing.T, c net.Conn, in *bufio.Reader) {
			io.WriteString(c, begin)
			since := time.Now()
			if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil || time.Since(since) != time.Second {
				t.Errorf("%q: %q, %v after %v", begin, rest, err, time.Since(since))
			}
		})
	}
	inVirtualTime(t, echo, func(t *testing.T, c net.Conn, in *bufio.Reader) {
		io.WriteString(c, "HEAD / HTTP/1.1\r\nHost: g\r\n\r\n")
		if r, err := http.ReadResponse(in, &http.Request{Method: "HEAD"}); err != nil || r.StatusCode != http.StatusOK {
			t.Fatal(r, err)
		}
		since := time.Now()
		if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil || time.Since(since) != time.Minute {
			t.Errorf("%q, %v after %v", rest, err, time.Since(since))
		}
	})
}

// The rest of a body that nobody reads may take as long as a head, unless the handler
// has said how long reading may take.
func TestSlowRest(t *testing.T) { bothWays(t, testSlowRest) }

func testSlowRest(t *testing.T) {
	for _, own := range []time.Duration{0, time.Hour} {
		for _, body := range []string{"Content-Length: 100\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"} {
			h := func(w Writer, r *Request) {
				if own > 0 {
					w.SetReadDeadline(time.Now().Add(own))
				}
			}
			inVirtualTime(t, h, func(t *testing.T, c net.Conn, in *bufio.Reader) {
				go io.WriteString(c, "POST / HTTP/1.1\r\nHost: g\r\n"+body)
				r, err := http.ReadResponse(in, nil)
				if err != nil || r.StatusCode != http.StatusOK {
					t.Fatal(r, err)
				}
				since, want := time.Now(), max(own, time.Second)
				if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil || time.Since(since) != want {
					t.Errorf("%q, %v after %v, want %v", rest, err, time.Since(since), want)
				}
			})
		}
	}
}

// The handler's own limits hold for its reading and writing, and for its request only.
func TestLimitsOfTheHandler(t *testing.T) { bothWays(t, testLimitsOfTheHandler) }

func testLimitsOfTheHandler(t *testing.T) {
	errs := make(chan error, 1)
	w := newWorld(t, func(w Writer, r *Request) {
		switch r.Path {
		case "/read":
			w.SetReadDeadline(time.Now().Add(short))
			_, err := io.ReadAll(r.Body)
			errs <- err
			w.WriteHeader(http.StatusRequestTimeout)
		case "/write", "/flush":
			w.SetWriteDeadline(time.Now().Add(short))
			part := strings.Repeat("x", 1<<20)
			if r.Path == "/flush" {
				part = part[:2000]
			}
			for {
				_, err := io.WriteString(w, part)
				if err == nil {
					err = w.Flush()
				}
				if err != nil {
					errs <- err
					return
				}
			}
		default:
			w.Header().Set("Content-Length", "2")
			echo(w, r)
			w.Flush()
			w.SetReadDeadline(time.Unix(1, 0))
			w.SetWriteDeadline(time.Unix(1, 0))
		}
	}, nil)
	c := w.wire(t)
	c.say("POST /read HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nhello")
	if r, _ := c.hear("POST"); r.StatusCode != http.StatusRequestTimeout {
		t.Error(r.Status)
	}
	if err := <-errs; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	c.closed()

	for _, path := range []string{"/write", "/flush"} {
		c = w.wire(t)
		c.say("GET %s HTTP/1.1\r\nHost: g\r\n\r\n", path) // and reads nothing
		if err := <-errs; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if _, err := io.ReadAll(c.in); err != nil && !strings.Contains(err.Error(), "reset") && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}

	c = w.wire(t)
	for range 3 {
		c.ask("/a", "/a")
	}
}
