package downstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that leaves ends the context of its request, in whatever way it leaves, and
// at whichever of its requests.
func TestLeaving(t *testing.T) { bothWays(t, testLeaving) }

func testLeaving(t *testing.T) {
	ways := map[string]func(c *wire){
		"close": func(c *wire) { c.tcp.Close() }, "reset": func(c *wire) { c.tcp.SetLinger(0); c.tcp.Close() }, "half": func(c *wire) { c.tcp.CloseWrite() },
	}
	if isOverTLS(t) { // the socket goes on
		ways["goodbye"] = func(c *wire) { c.CloseWrite() }
		ways["garbage"] = func(c *wire) { io.WriteString(c.tcp, "\x17\x03\x03\x00\x20"+strings.Repeat("x", 32)) }
	}
	for name, leave := range ways {
		for _, before := range []int{0, 3} {
			for i, body := range []string{"\r\n", "Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n\r\nhello"} {
				t.Run(fmt.Sprint(name, before, i), func(t *testing.T) {
					t.Parallel()
					arrived, left := make(chan struct{}), make(chan error)
					w := newWorld(t, func(w Writer, r *Request) {
						if r.Path == "/wait" {
							r.Body.Read(make([]byte, 10))
							close(arrived)
							<-r.Context().Done()
							left <- r.Context().Err()
							return
						}
						echo(w, r)
					}, nil)
					c := w.wire(t)
					for range before {
						c.ask("/", "/")
					}
					c.say("POST /wait HTTP/1.1\r\nHost: g\r\n%s", body)
					<-arrived
					if i == 2 && name != "goodbye" && name != "garbage" { // the next request stays unread
						c.say("GET /never HTTP/1.1\r\n")
					}
					leave(c)
					if err := <-left; err != context.Canceled {
						t.Errorf("the context: %v", err)
					}
				})
			}
		}
	}
}

// A client of TLS may say goodbye in the breath in which it asks: TLS has read that when
// nothing is left at the socket.
func TestGoodbyeAtOnce(t *testing.T) {
	left := make(chan error)
	w := on(t, scripted(t), func(_ Writer, r *Request) {
		io.ReadAll(r.Body)
		<-r.Context().Done()
		left <- r.Context().Err()
	}, func(s *http.Server) { s.TLSConfig = certified() })
	for _, body := range []string{"\r\n", "Content-Length: 5\r\n\r\nhello"} {
		c := w.wire(t)
		one := &breath{Conn: c.tcp}
		c.Conn = tls.Client(one, &tls.Config{InsecureSkipVerify: true})
		if err := c.Conn.(*tls.Conn).Handshake(); err != nil {
			t.Fatal(err)
		}
		one.hold = true
		c.say("POST / HTTP/1.1\r\nHost: g\r\n%s", body)
		c.CloseWrite()
		c.tcp.SetWriteDeadline(time.Now().Add(long)) // CloseWrite has set it
		if _, err := c.tcp.Write(one.held); err != nil {
			t.Fatal(err)
		}
		if err := <-left; err != context.Canceled {
			t.Errorf("%q: the context: %v", body, err)
		}
	}
}

// breath is a connection that keeps what is written.
type breath struct {
	net.Conn
	hold bool
	held []byte
}

func (b *breath) Write(p []byte) (int, error) {
	if !b.hold {
		return b.Conn.Write(p)
	}
	b.held = append(b.held, p...)
	return len(p), nil
}

// A request's context ends with it, and with what its handler says; the next request has
// one of its own, which has ended if the client has left before.
func TestContextOfEachRequest(t *testing.T) { bothWays(t, testContextOfEachRequest) }

func testContextOfEachRequest(t *testing.T) {
	why := errors.New("any reason")
	var before context.Context
	var own *conn
	w := newWorld(t, func(w Writer, r *Request) {
		ctx := r.Context()
		switch {
		case r.Path == "/left":
			own.gone()
		case ctx.Err() != nil != (r.Path == "/behind"):
			t.Errorf("%s: the context begins with %v", r.Path, ctx.Err())
		case r.Path == "/ends":
			r.End()(why)
		}
		if before != nil && before.Err() == nil {
			t.Errorf("%s: the context of the request before goes on", r.Path)
		}
		if before != nil && (context.Cause(before) == why) != (r.Path == "/after") {
			t.Errorf("%s: the request before ended because of %v", r.Path, context.Cause(before))
		}
		before = ctx
		echo(w, r)
	}, nil)
	c := w.wire(t)
	c.ask("/", "/")
	w.mu.Lock()
	for own = range w.conns {
	}
	w.mu.Unlock()
	for _, path := range []string{"/ends", "/after", "/left", "/behind"} {
		c.ask(path, path)
	}
}

// What is sent ahead is no leave, and nothing of it is lost.
func TestSendingAheadIsNoLeave(t *testing.T) { bothWays(t, testSendingAheadIsNoLeave) }

func testSendingAheadIsNoLeave(t *testing.T) {
	looked := make(chan struct{})
	var w *world
	w = newWorld(t, func(_ Writer, r *Request) {
		for range 3 { // the server looks, and sees the next request
			w.mu.Lock()
			for c := range w.conns {
				c.look()
			}
			w.mu.Unlock()
		}
		if r.Context().Err() != nil {
			t.Error("the context has ended")
		}
		<-looked
	}, nil)
	c := w.wire(t)
	c.say("GET /1 HTTP/1.1\r\nHost: g\r\n\r\n")
	c.say("GET /2 HTTP/1.1\r\nHost: g\r\n\r\n")
	for range 2 {
		looked <- struct{}{}
		if r, _ := c.hear("GET"); r.StatusCode != http.StatusOK {
			t.Error(r.Status)
		}
	}
}

// To look at a client that has sent nothing changes nothing for its next request.
func TestLooking(t *testing.T) { bothWays(t, testLooking) }

func testLooking(t *testing.T) {
	var w *world
	w = newWorld(t, func(_ Writer, r *Request) {
		io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		for c := range w.conns {
			for range 3 {
				glanceAt(c)
			}
		}
		if r.Context().Err() != nil {
			t.Error("the context has ended")
		}
	}, nil)
	c := w.wire(t)
	for _, body := range []string{"\r\n", "Content-Length: 5\r\n\r\nhello", "\r\n"} {
		c.say("POST / HTTP/1.1\r\nHost: g\r\n%s", body)
		if r, _ := c.hear("POST"); r.StatusCode != http.StatusOK {
			t.Error(r.Status)
		}
	}
}

// glanceAt looks at a client, and waits until what it has said over TLS is heard.
func glanceAt(c *conn) {
	c.look()
	c.mu.Lock()
	ended := c.heard.ended
	c.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// What a client of TLS sends behind the first look at it is heard: nothing of its next
// request is lost, and a goodbye is one.
func TestWhatComesLater(t *testing.T) {
	looked, sent, next := make(chan struct{}), make(chan struct{}), make(chan string, 3)
	var w *world
	w = on(t, scripted(t), func(_ Writer, r *Request) {
		io.ReadAll(r.Body)
		if next <- r.Method + r.Path; r.Path == "/next" { // a method that lacks a letter is one
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for c := range w.conns {
			glanceAt(c)
			looked <- struct{}{}
			<-sent
			for heard := false; !heard && r.Context().Err() == nil; {
				glanceAt(c)
				c.mu.Lock()
				heard = c.heard.ahead
				c.mu.Unlock()
			}
		}
		if (r.Context().Err() != nil) != (r.Path == "/left") {
			t.Errorf("%s: the context: %v", r.Path, r.Context().Err())
		}
	}, func(s *http.Server) { s.TLSConfig = certified() })
	c := w.wire(t)
	c.say("GET /goes-on HTTP/1.1\r\nHost: g\r\n\r\n")
	<-looked
	c.say("GET /next HTTP/1.1\r\nHost: g\r\n\r\n")
	sent <- struct{}{}
	for range 2 {
		if r, _ := c.hear("GET"); r.StatusCode != http.StatusOK {
			t.Error(r.Status)
		}
	}
	c.say("GET /left HTTP/1.1\r\nHost: g\r\n\r\n")
	<-looked
	c.CloseWrite()
	sent <- struct{}{}
	for _, want := range []string{"GET/goes-on", "GET/next", "GET/left"} {
		if got := <-next; got != want {
			t.Errorf("%s was served, want %s", got, want)
		}
	}
}
