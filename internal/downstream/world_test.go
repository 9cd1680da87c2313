package downstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long is a time that no test waits for unless something is wrong.
const long = 30 * time.Second

// world is a server with its listener.
type world struct {
	*Server
	address string
	tls     bool
	served  chan struct{} // closed when Serve has returned err
	err     error
	log     *lines
}

// lines is a log.
type lines struct {
	sync.Mutex
	strings.Builder
	more chan struct{} // has a token when there is more
}

func (l *lines) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.Builder.Write(b)
}

func (l *lines) String() string {
	l.Lock()
	defer l.Unlock()
	return l.Builder.String()
}

// handler is a function that is a Handler.
type handler func(w Writer, r *Request)

func (h handler) Serve(w Writer, r *Request) { h(w, r) }

// bothWays has a test played by plain connections, and by TLS: newWorld makes servers of
// the kind that its test is for.
func bothWays(t *testing.T, play func(t *testing.T)) {
	t.Run("plain", play)
	t.Run(overTLS, play)
}

const overTLS = "TLS"

func isOverTLS(t testing.TB) bool { return slices.Contains(strings.Split(t.Name(), "/"), overTLS) }

// newWorld starts a server with a handler, whose limits change may change.
func newWorld(t testing.TB, h handler, change func(*http.Server)) *world {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if isOverTLS(t) {
		return on(t, l, h, func(s *http.Server) {
			if s.TLSConfig = certified(); change != nil {
				change(s)
			}
		})
	}
	return on(t, l, h, change)
}

// certified is TLS with the certificate that net/http has for tests.
func certified() *tls.Config {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
}

// on is newWorld on a listener.
func on(t testing.TB, l net.Listener, h handler, change func(*http.Server)) *world {
	w := &world{address: l.Addr().String(), served: make(chan struct{}), log: &lines{more: make(chan struct{}, 1)}}
	base := &http.Server{ReadHeaderTimeout: long, IdleTimeout: long, MaxHeaderBytes: 8 << 10, ErrorLog: log.New(w.log, "", 0)}
	base.Protocols = new(http.Protocols)
	base.Protocols.SetHTTP1(true)
	base.Protocols.SetHTTP2(true)
	base.Protocols.SetUnencryptedHTTP2(true)
	if change != nil {
		change(base)
	}
	w.tls = base.TLSConfig != nil
	w.Server = New(Options{Base: base, Handler: h, Refuse: refuse})
	go func() {
		defer close(w.served)
		w.err = w.Serve(l)
	}()
	t.Cleanup(func() {
		w.Close()
		w.ends(t)
		if <-w.served; !errors.Is(w.err, http.ErrServerClosed) && !errors.Is(w.err, net.ErrClosed) {
			t.Errorf("Serve: %v", w.err)
		}
	})
	return w
}

// ends shuts the server down.
func (w *world) ends(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := w.Shutdown(ctx); err != nil {
		t.Errorf("the server does not end: %v", err)
	}
}

// wire is a client that writes its bytes itself.
type wire struct {
	net.Conn
	tcp *net.TCPConn
	t   testing.TB
	in  *bufio.Reader
}

func (w *world) wire(t testing.TB) *wire {
	c, err := w.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(long))
	own := &wire{Conn: c, t: t, in: bufio.NewReader(c)}
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	own.tcp = c.(*net.TCPConn)
	return own
}

// dial makes a connection of the server's kind.
func (w *world) dial() (net.Conn, error) {
	c, err := net.Dial("tcp", w.address)
	if err != nil || !w.tls {
		return c, err
	}
	return tls.Client(c, &tls.Config{InsecureSkipVerify: true}), nil
}

// CloseWrite says that no more comes.
func (c *wire) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

func (c *wire) say(format string, a ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, a...); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads an answer to a request with the method.
func (c *wire) hear(method string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("%s broke off: %q, %v", r.Status, text, err)
	}
	return r, string(text)
}

// ask sends a request and checks its answer.
func (c *wire) ask(path, want string) {
	c.t.Helper()
	c.say("GET %s HTTP/1.1\r\nHost: g\r\n\r\n", path)
	if r, text := c.hear("GET"); r.StatusCode != http.StatusOK || text != want {
		c.t.Errorf("%s: %s %q, want %q", path, r.Status, text, want)
	}
}

// closed checks that the server ends the connection and says nothing more.
func (c *wire) closed() {
	c.t.Helper()
	if rest := c.rest(); rest != "" {
		c.t.Errorf("more came: %q", rest)
	}
}

// rest reads until the server ends the connection.
func (c *wire) rest() string {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("the connection goes on: %v", err)
	}
	return string(rest)
}

// echo answers with the target and the body.
func echo(w Writer, r *Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	io.WriteString(w, r.Target+string(b))
}

// refuse answers with a status and the reason.
func refuse(w Writer, status int, why string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	io.WriteString(w, why)
}
