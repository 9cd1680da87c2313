package downstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// A client that leaves ends the context of its request, in whatever way it leaves, and
// at whichever of its requests.
func TestLeaving(t *testing.T) {
	for name, leave := range map[string]func(c *net.TCPConn){
		"close": func(c *net.TCPConn) { c.Close() }, "reset": func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, "half": func(c *net.TCPConn) { c.CloseWrite() },
	} {
		for _, before := range []int{0, 3} {
			for i, body := range []string{"\r\n", "Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n\r\nhello"} {
				t.Run(fmt.Sprint(name, before, i), func(t *testing.T) {
					t.Parallel()
					arrived, left := make(chan struct{}), make(chan error)
					w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/wait" {
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
					leave(c.TCPConn)
					if err := <-left; err != context.Canceled {
						t.Errorf("the context: %v", err)
					}
				})
			}
		}
	}
}

// What is sent ahead is no leave, and nothing of it is lost.
func TestSendingAheadIsNoLeave(t *testing.T) {
	looked := make(chan struct{})
	var w *world
	w = newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
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
