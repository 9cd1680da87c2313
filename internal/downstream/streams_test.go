package downstream

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tape is a connection whose client has sent all it will ever send.
type tape struct {
	net.Conn // nil
	in       *bytes.Reader
	lock     sync.Mutex // net/http reads ahead
	closed   chan struct{}
	close    sync.Once
}

func newTape(b []byte) *tape { return &tape{in: bytes.NewReader(b), closed: make(chan struct{})} }

func (t *tape) Read(b []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.in.Read(b)
}

func (t *tape) Close() error {
	t.close.Do(func() { close(t.closed) })
	return nil
}

func (t *tape) Write(b []byte) (int, error)      { return len(b), nil }
func (t *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (t *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (t *tape) SetReadDeadline(time.Time) error  { return nil }
func (t *tape) SetWriteDeadline(time.Time) error { return nil }
func (t *tape) SetDeadline(time.Time) error      { return nil }

// note is a handler that notes the whole requests.
func note(all *[]string) handler {
	return func(w Writer, r *Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		*all = append(*all, fmt.Sprintf("%s %s for %q, %q %q", r.Method, r.Target, r.Host, r.Header.Values("A"), b))
	}
}

// pieces is what streams are made of, whole requests at first.
var pieces = []string{
	"GET /g HTTP/1.1\r\nHost: g\r\n\r\n", "POST /l HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nhello",
	"POST /c HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "POST /p HTTP/1.1\r\nHost: g\r\nA: b\r\n",
	"GET / HTTP/1.1\r\n", "POST /o HTTP/1.0\r\n", "Host: g\r\n", "Host: g\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n", "content-length: 37\r\n",
	"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: Chunked\n", "Transfer-Encoding: chun\u212aed\r\n", "Transfer-Encoding: identity\r\n", "Connection: close\r\n",
	"Connection: keep-alive\r\n", "Expect: 100-continue\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", " ", "\t", "\x0b", "\x00", "\xff", ":", ",", "hello", "5\r\nhello\r\n", "0\r\n\r\n",
	"0\r\n", "5;a=b\r\nhello\r\n", "0", "A: b\r\n", " c\r\n", "HTTP/1.1", "/", "http://x/y",
}

// stream returns what a client may send: whole requests, with something in them that
// does not belong there, and anything at all.
func stream(rng *rand.Rand) []byte {
	var b []byte
	for range 1 + rng.IntN(4) {
		if rng.IntN(3) == 0 {
			for range 1 + rng.IntN(9) {
				b = append(b, pieces[3+rng.IntN(len(pieces)-3)]...)
			}
			continue
		}
		part, odd := pieces[rng.IntN(4)], ""
		if rng.IntN(2) == 0 {
			odd = pieces[rng.IntN(len(pieces))]
		}
		at := rng.IntN(len(part))
		b = append(append(append(b, part[:at]...), odd...), part[at:]...)
	}
	return b
}

// However requests, parts of them and odd bytes are put together: what is served is
// what net/http serves, in the same order and with the same bodies. Less may be served,
// since more is refused, but for requests behind an empty line (RFC 9112, 2.2).
func TestStreams(t *testing.T) {
	const seed, streams = 1, 3000
	rng, none := rand.New(rand.NewPCG(seed, streams)), log.New(io.Discard, "", 0)
	served := 0
	for range streams {
		b := stream(rng)
		var ours, theirs []string
		s := New(Options{
			Base:    &http.Server{ReadHeaderTimeout: long, IdleTimeout: long, MaxHeaderBytes: 1 << 16, ErrorLog: none},
			Handler: note(&ours),
			Refuse:  func(w Writer, status int, _ string) { w.WriteHeader(status) },
		})
		s.start(s.conn(newTape(b)))
		<-s.none

		c, l := newTape(b), &handed{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		l.conns <- c
		standard, ended := &http.Server{Handler: Standard{note(&theirs)}, ErrorLog: none}, make(chan struct{})
		go func() {
			defer close(ended)
			_ = standard.Serve(l)
		}()
		<-c.closed
		close(l.closed)
		<-ended
		standard.Close()

		served += len(ours)
		if n := len(theirs); len(ours) > n {
			if line, _, _ := strings.Cut(ours[n], " for "); bytes.Contains(b, []byte("\r\n"+line)) {
				ours = ours[:n]
			}
		}
		if n := len(ours); n > len(theirs) || !slices.Equal(ours, theirs[:n]) {
			t.Errorf("%q:\nserved         %q\nnet/http's are %q", b, ours, theirs)
		}
	}
	if served < streams/4 {
		t.Errorf("%d requests were served, which says little", served)
	}
}
