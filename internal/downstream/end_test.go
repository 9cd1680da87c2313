package downstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// stays is a handler that says when a request has come and waits before and after its
// first part.
func stays(arrived, go1, go2 chan struct{}) handler {
	return func(w Writer, r *Request) {
		if r.Path != "/stay" {
			echo(w, r)
			return
		}
		arrived <- struct{}{}
		<-go1
		io.WriteString(w, "first,")
		w.Flush()
		arrived <- struct{}{}
		<-go2
		io.WriteString(w, "second")
	}
}

// Shutdown ends idle connections at once, and the others behind their request, whose
// answer is whole.
func TestShutdown(t *testing.T) { bothWays(t, testShutdown) }

func testShutdown(t *testing.T) {
	for _, begun := range []bool{false, true} {
		arrived, go1, go2 := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
		w := newWorld(t, stays(arrived, go1, go2), nil)
		fresh, idle, active := w.wire(t), w.wire(t), w.wire(t)
		idle.ask("/", "/")
		active.ask("/", "/")
		active.say("GET /stay HTTP/1.1\r\nHost: g\r\n\r\nGET /never HTTP/1.1\r\nHost: g\r\n\r\n")
		if <-arrived; begun {
			close(go1)
			<-arrived
		}
		ended := make(chan error)
		go func() { ended <- w.Shutdown(context.Background()) }()
		<-w.served
		fresh.closed()
		idle.closed()
		if c, err := net.Dial("tcp", w.address); err == nil {
			c.Close()
			t.Error("the listener is open")
		}
		select {
		case err := <-ended:
			t.Fatalf("Shutdown does not wait: %v", err)
		default:
		}
		if !begun {
			close(go1)
		}
		close(go2)
		if r, text := active.hear("GET"); text != "first,second" || r.Close == begun {
			t.Errorf("begun %v: %s %q, close %v", begun, r.Status, text, r.Close)
		}
		active.closed()
		if err := <-ended; err != nil || !errors.Is(w.err, http.ErrServerClosed) {
			t.Errorf("Shutdown: %v, Serve: %v", err, w.err)
		}
	}
}

// Shutdown waits no longer than for its context, and may be called again.
func TestShutdownInTime(t *testing.T) { bothWays(t, testShutdownInTime) }

func testShutdownInTime(t *testing.T) {
	arrived, go1 := make(chan struct{}, 2), make(chan struct{})
	w := newWorld(t, stays(arrived, go1, go1), nil)
	c := w.wire(t)
	c.say("GET /stay HTTP/1.1\r\nHost: g\r\n\r\n")
	<-arrived
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2 {
		if err := w.Shutdown(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Shutdown: %v", err)
		}
	}
	close(go1)
	if r, text := c.hear("GET"); text != "first,second" {
		t.Errorf("%s %q", r.Status, text)
	}
	w.ends(t)
	if err := w.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Close ends connections in whatever state, and their contexts; nothing looks whole.
func TestClose(t *testing.T) { bothWays(t, testClose) }

func testClose(t *testing.T) {
	for _, path := range []string{"/", "/stay", "/half a head"} {
		arrived, go1, gone := make(chan struct{}, 2), make(chan struct{}), make(chan struct{}, 1)
		w := newWorld(t, func(w Writer, r *Request) {
			if context.AfterFunc(r.Context(), func() { gone <- struct{}{} }); r.Path == "/stay" {
				stays(arrived, go1, go1)(w, r)
				return
			}
			arrived <- struct{}{}
			io.ReadAll(r.Body)
		}, nil)
		c := w.wire(t)
		if path != "/half a head" {
			c.say("POST %s HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\n", path)
			<-arrived
			w.Close()
			<-gone
		} else {
			c.say("POST %s", path)
			w.Close()
		}
		close(go1)
		c.closed()
		w.ends(t)
	}
}

// Shutdown and Close may be called at any time, also before Serve, together and again.
func TestEndsInAnyOrder(t *testing.T) { bothWays(t, testEndsInAnyOrder) }

func testEndsInAnyOrder(t *testing.T) {
	for _, order := range []string{"SS", "CC", "SC", "CS", "SCSC"} {
		w := newWorld(t, echo, nil)
		w.wire(t).ask("/", "/")
		var all sync.WaitGroup
		for _, end := range order {
			all.Go(func() {
				if end == 'S' {
					w.ends(t)
				} else if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("%s: Serve: %v", order, err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the listener: %v", order, err)
		}
	}
}

// While requests arrive, each one is answered whole or not at all, and none is begun
// behind Shutdown.
func TestShutdownWhileRequestsArrive(t *testing.T) { bothWays(t, testShutdownWhileRequestsArrive) }

func testShutdownWhileRequestsArrive(t *testing.T) {
	for range 5 {
		var over, late atomic.Bool
		begun := make(chan struct{}, 1)
		w := newWorld(t, func(w Writer, r *Request) {
			if over.Load() {
				late.Store(true)
			}
			select {
			case begun <- struct{}{}:
			default:
			}
			io.WriteString(w, strings.Repeat("x", 5000))
		}, nil)
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() {
				for {
					c, err := w.dial()
					if err != nil {
						return
					}
					in := bufio.NewReader(c)
					for {
						if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: g\r\n\r\n"); err != nil {
							break
						}
						if _, err := in.Peek(1); err != nil {
							break // not at all
						}
						r, err := http.ReadResponse(in, nil)
						if err != nil {
							t.Errorf("a head broke off: %v", err)
							break
						}
						if b, err := io.ReadAll(r.Body); err != nil || len(b) != 5000 {
							t.Errorf("an answer broke off: %d bytes, %v", len(b), err)
						}
						if r.Close {
							break
						}
					}
					c.Close()
				}
			})
		}
		<-begun
		w.ends(t)
		over.Store(true)
		clients.Wait()
		if late.Load() {
			t.Error("a request was served behind Shutdown")
		}
	}
}
