package downstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// A client that leaves ends the context of its request, in whatever way it leaves, and
// at whichever of its requests.
func TestLeaving(t *testing.T) { bothWays(t, testLeaving) }

func testLeaving(t *testing.T) {
	for name, leave := range map[string]func(c *net.TCPConn){
		"close": func(c *net.TCPConn) { c.Close() }, "reset": func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, "half": func(c *net.TCPConn) { c.CloseWrite() },
	} {
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
					if i == 2 { // the next request stays unread
						c.say("GET /never HTTP/1.1\r\n")
					}
					leave(c.tcp)
					if err := <-left; err != context.Canceled {
						t.Errorf("the context: %v", err)
					}
				})
			}
		}
	}
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
