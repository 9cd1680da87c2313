package downstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// script is a listener that gives what stands in it.
type script struct {
	net.Listener
	next chan any // net.Conn or error
}

func (s *script) Accept() (net.Conn, error) {
	a, ok := <-s.next
	if !ok {
		return s.Listener.Accept()
	}
	c, _ := a.(net.Conn)
	err, _ := a.(error)
	return c, err
}

func scripted(t *testing.T, all ...any) *script {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{l, make(chan any, len(all))}
	for _, a := range all {
		s.next <- a
	}
	close(s.next)
	return s
}

// A listener that fails for a while is asked again, and the log says so.
func TestAcceptFails(t *testing.T) {
	w := on(t, scripted(t, syscall.EMFILE, syscall.ECONNABORTED, errors.New("oh")), echo, nil)
	w.wire(t).ask("/", "/")
	log := w.log.String()
	for _, want := range []string{syscall.EMFILE.Error() + "; the next try comes in 5ms\n", syscall.ECONNABORTED.Error() + "; the next try comes in 10ms\n", "oh; the next try comes in 20ms\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}

	fails := make([]any, 1000)
	for i := range fails {
		fails[i] = syscall.EMFILE
	}
	w = on(t, scripted(t, fails...), echo, nil)
	<-w.log.more
	w.ends(t) // does not wait for the next try
	if <-w.served; !errors.Is(w.err, http.ErrServerClosed) {
		t.Error(w.err)
	}

	l := scripted(t)
	w = on(t, l, echo, nil)
	w.wire(t).ask("/", "/")
	l.Close()
	if <-w.served; !errors.Is(w.err, net.ErrClosed) {
		t.Error(w.err)
	}
}

func TestPause(t *testing.T) {
	var p pause
	for _, want := range []string{"5ms", "10ms", "20ms", "40ms", "80ms", "160ms", "320ms", "640ms", "1s", "1s"} {
		if got := p.next().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// netHTTP says in a header whether net/http serves, and by which protocol.
func netHTTP(w Writer, r *Request) {
	w.Header().Set("Protocol", r.Proto)
	if r.Context().Value(http.ServerContextKey) != nil {
		w.Header().Set("By", "net/http")
	}
	echo(w, r)
}

// What is no TCP connection is served by net/http, and ends with the server.
func TestConnectionsOfAnotherKind(t *testing.T) {
	near, far := net.Pipe()
	closed := make(chan struct{})
	w := on(t, scripted(t, watched{near, sync.OnceFunc(func() { close(closed) })}), netHTTP, nil)
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return far, nil }}}
	for range 2 {
		fetch(t, c, "http://g/a", "net/http", "HTTP/1.1")
	}
	own := &http.Client{Transport: &http.Transport{}}
	fetch(t, own, "http://"+w.address, "", "HTTP/1.1")
	own.CloseIdleConnections()
	w.ends(t)
	<-closed
	c.CloseIdleConnections()
}

// watched is a connection that says when it is closed.
type watched struct {
	net.Conn
	closed func()
}

func (w watched) Close() error {
	w.closed()
	return w.Conn.Close()
}

// Who begins with HTTP/2 gets it, on a new connection and on one that has served.
func TestHTTP2(t *testing.T) {
	w := newWorld(t, netHTTP, nil)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	c := &http.Client{Transport: transport}
	for range 2 {
		fetch(t, c, "http://"+w.address, "net/http", "HTTP/2.0")
	}
	wire := w.wire(t)
	wire.ask("/", "/")
	wire.say("%sSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", preface)
	frame := make([]byte, 9)
	if _, err := io.ReadFull(wire.in, frame); err != nil || frame[3] != 4 {
		t.Errorf("%x, %v, want SETTINGS", frame, err)
	}
	wire.Close()
	transport.CloseIdleConnections()
	w.ends(t)
	if _, err := c.Get("http://" + w.address); err == nil {
		t.Error("the server goes on")
	}
}

// With a TLSConfig all connections are TLS: those that choose HTTP/2, and those that are
// not TCP, are served by net/http.
func TestTLS(t *testing.T) {
	for protocol, by := range map[string]string{"HTTP/1.1": "", "HTTP/2.0": "net/http"} {
		near, far := net.Pipe()
		w := on(t, scripted(t, near), netHTTP, func(s *http.Server) { s.TLSConfig = certified() })
		trusting := &tls.Config{InsecureSkipVerify: true}
		if by == "" {
			trusting.NextProtos = []string{"http/1.1"}
		}
		transport := &http.Transport{ForceAttemptHTTP2: by != "", TLSClientConfig: trusting}
		for range 2 {
			fetch(t, &http.Client{Transport: transport}, "https://"+w.address, by, protocol)
		}
		piped := transport.Clone()
		piped.DialContext = func(context.Context, string, string) (net.Conn, error) { return far, nil }
		fetch(t, &http.Client{Transport: piped}, "https://g", "net/http", protocol)
		transport.CloseIdleConnections()
		piped.CloseIdleConnections()
		w.ends(t)
		if <-w.served; !errors.Is(w.err, http.ErrServerClosed) {
			t.Error(w.err)
		}
	}
}

// Several listeners may be served.
func TestListeners(t *testing.T) {
	w := newWorld(t, echo, nil)
	l := scripted(t)
	served := make(chan error)
	go func() { served <- w.Serve(l) }()
	w.wire(t).ask("/", "/")
	second := &world{address: l.Addr().String()}
	second.wire(t).ask("/", "/")
	w.ends(t)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func fetch(t *testing.T, c *http.Client, url, by, protocol string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/a", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.HasSuffix(string(text), "/ahello") || resp.Header.Get("By") != by || resp.Header.Get("Protocol") != protocol {
		t.Errorf("%q, %v, %v", text, err, resp.Header)
	}
}
