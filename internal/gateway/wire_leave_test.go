package gateway

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// A body that ends before its length is no request; what comes behind its length
// is the next one (RFC 9112, 6.3 and 8).
func TestBodiesOfAnotherLength(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for name, send := range map[string]string{
		"a short body":      chatLine + "Content-Length: 1000\r\n\r\n" + hello,
		"no body":           chatLine + "Content-Length: 1000\r\n\r\n",
		"half a chunk":      chatLine + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + hello,
		"no last chunk":     chatLine + "Transfer-Encoding: chunked\r\n\r\n" + chunk(hello),
		"half the trailers": chatLine + "Transfer-Encoding: chunked\r\n\r\n" + chunk(hello) + "0\r\nX: 1\r\n",
	} {
		c := w.wire(t)
		c.say("%s", send)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if resp, text := c.hear("POST"); resp.StatusCode != http.StatusBadRequest || !resp.Close || !strings.HasPrefix(text, `{"error":`) {
			t.Errorf("%s: %s %q", name, resp.Status, text)
		}
		c.closed()
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}

	c := w.wire(t)
	c.say("%s", chatLine+framed+"behind it\r\n\r\n")
	if resp, text := c.hear("POST"); resp.StatusCode != http.StatusOK {
		t.Errorf("a long body: %s %q", resp.Status, text)
	}
	if resp, text := c.hear("GET"); resp.StatusCode != http.StatusBadRequest || !resp.Close {
		t.Errorf("behind it: %s %q", resp.Status, text)
	}
	c.closed()
	if seen := f.seen(); len(seen) != 1 || string(seen[0].body) != hello {
		t.Errorf("the worker got %q", seen)
	}

	c = w.wire(t)
	c.say("%s", "POST /v1/chat/completions HT")
	c.Conn.(*net.TCPConn).CloseWrite()
	if rest, _ := io.ReadAll(c.in); len(rest) > 0 && !strings.HasPrefix(string(rest), "HTTP/1.1 400 ") {
		t.Errorf("half a head: %q", rest)
	}
	w.idle()
}

// A client is missed whichever request of its connection it leaves, in whatever
// form its body came, and when it only ends its own half: its end and its
// leaving look the same. A worker is not blamed for that.
func TestLeavingALaterRequest(t *testing.T) {
	for name, leave := range map[string]func(c *net.TCPConn){
		"close":      func(c *net.TCPConn) { c.Close() },
		"reset":      func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"half close": func(c *net.TCPConn) { c.CloseWrite() },
	} {
		for form, body := range map[string]string{"length": framed, "chunks": pieces("", ""), "trailers": pieces("", "X: 1\r\n")} {
			t.Run(name+", "+form, func(t *testing.T) {
				arrived, left := make(chan struct{}), make(chan struct{})
				f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
					if r.Header.Get("X-Do") == "" {
						answerJSON(w, r, b)
						return
					}
					arrived <- struct{}{}
					<-r.Context().Done()
					left <- struct{}{}
				})
				w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1 }, f)
				c := w.wire(t)
				for range 3 {
					c.say("%s", chatLine+body)
					c.hear("POST")
				}
				c.say("%s", chatLine+"X-Do: wait\r\n"+body)
				<-arrived
				leave(c.Conn.(*net.TCPConn))
				<-left
				w.idle()
				if n := w.metric("gatewayd_requests_total", `outcome="cancelled"`, `code="499"`); n != 1 || len(f.seen()) != 4 {
					t.Errorf("%v cancelled requests counted, %d at the worker", n, len(f.seen()))
				}
				if up, openings := w.rotation(); up != 1 || openings != 0 {
					t.Errorf("%v workers up, %v openings", up, openings)
				}
				w.served(t)
			})
		}
	}
}

// A client that leaves the queue is missed too: its request never reaches a worker.
func TestLeavingTheQueueOnTheWire(t *testing.T) {
	arrived, stay := make(chan struct{}, 1), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		arrived <- struct{}{}
		<-stay
		answerJSON(w, r, b)
	})
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Concurrency = 1 }, f)
	first, second := w.wire(t), w.wire(t)
	first.say("%s", chatLine+framed)
	<-arrived
	second.say("%s", chatLine+pieces("", ""))
	w.until("a request in the queue", func() bool { return w.lives() == 2 })
	second.Close()
	w.until("it to leave the queue", func() bool { return w.lives() == 1 })
	close(stay)
	if resp, text := first.hear("POST"); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %q", resp.Status, text)
	}
	first.served()
	w.idle()
	if n := len(f.seen()); n != 1 {
		t.Errorf("%d requests reached the worker", n)
	}
}
