package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"gatewayd/internal/socket"
	"testing/synctest"
	"time"
)

// left returns a script that answers with a text and waits until its client has left.
func left(text string, played, gone chan<- struct{}) script {
	return func(c net.Conn, r *http.Request, in *bufio.Reader) bool {
		says(text)(c, r, in)
		close(played)
		io.Copy(io.Discard, in)
		close(gone)
		return false
	}
}

// TestCancel holds that the end of the context ends the exchange, wherever it is, and
// that the worker notices.
func TestCancel(t *testing.T) {
	why := errors.New("the client has left")
	for name, text := range map[string]string{
		"before the head": "",
		"in the head":     "HTTP/1.1 200",
		"in the body":     "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
		"in a chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
	} {
		t.Run(name, func(t *testing.T) {
			played, gone := make(chan struct{}), make(chan struct{})
			w := newWorker(t, left(text, played, gone))
			ctx, cancel := context.WithCancelCause(t.Context())
			resp, err := w.Do(ctx, w.request(t, "question"), wrote(func(error) {
				if !strings.Contains(text, "\r\n\r\n") {
					<-played
					cancel(why)
				}
			}))
			if err == nil {
				b := make([]byte, 1)
				if _, err := io.ReadFull(resp.Body, b); err != nil {
					t.Error(err)
				}
				cancel(why)
				_, err = io.ReadAll(resp.Body)
				if _, again := resp.Body.Read(b); again != err {
					t.Errorf("then %v, before %v", again, err)
				}
				resp.Body.Close()
			} else {
				cancel(why)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the context's error", err)
			}
			<-gone
		})
	}
}

// TestClose holds that closing a body that was not read ends the connection.
func TestClose(t *testing.T) {
	played, gone := make(chan struct{}), make(chan struct{})
	w := newWorker(t, left("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", played, gone))
	resp, err := w.do(t, w.request(t, "question"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-gone
	if _, err := resp.Body.Read(make([]byte, 8)); err == nil {
		t.Error("a closed body is read without an error")
	}
}

// TestClosedMeanwhile holds that a connection that the worker has closed since, or on
// which something came, is not used again.
func TestClosedMeanwhile(t *testing.T) {
	for name, end := range map[string]func(c net.Conn){
		"closed":   func(c net.Conn) { c.Close() },
		"answered": func(c net.Conn) { io.WriteString(c, ok) },
	} {
		idle := make(chan struct{})
		w := newWorker(t, func(c net.Conn, r *http.Request, in *bufio.Reader) bool {
			says(ok)(c, r, in)
			<-idle
			end(c)
			return true
		})
		if _, _, err := w.ask(t, "question"); err != nil {
			t.Fatal(err)
		}
		held := w.idle.pop(w.address)
		if held == nil || !socket.Quiet(held.Conn) {
			t.Fatalf("%s: no quiet connection is kept", name)
		}
		close(idle)
		for socket.Quiet(held.Conn) && t.Context().Err() == nil {
			runtime.Gosched()
		}
		w.idle.put(held)
		if _, answer, err := w.ask(t, "question"); err != nil || answer != "ok" || w.accepted.Load() != 2 {
			t.Errorf("%s: %q %v on %d connections, want a second one", name, answer, err, w.accepted.Load())
		}
	}
}

// TestIdle holds how many unused connections are kept, and for how long.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &idle{timeout: time.Minute, perHost: 2, hosts: map[string][]*conn{}}
		var kept []*conn
		for range 3 {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			c := &conn{Conn: ours, host: "a"}
			kept = append(kept, c)
			i.put(c)
			<-time.After(20 * time.Second)
		}
		if open(kept[2]) || !open(kept[1]) {
			t.Error("the third connection is kept, or the second is not")
		}
		if c := i.take("b"); c != nil {
			t.Error("a connection of another host")
		}
		if c := i.take("a"); c != kept[1] {
			t.Error("not the one that was used last")
		}
		i.put(kept[1]) // unused since the first minute
		<-time.After(59 * time.Second)
		synctest.Wait()
		if open(kept[0]) || !open(kept[1]) {
			t.Error("the first is open, or the second is closed before its time")
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if open(kept[1]) || len(i.hosts) > 0 || i.sweep != nil {
			t.Error("unused connections are kept for ever")
		}
	})
}

// open reports whether our end of a pipe was not closed.
func open(c *conn) bool {
	c.SetDeadline(past)
	defer c.SetDeadline(time.Time{})
	_, err := c.Conn.Write([]byte{0})
	return !errors.Is(err, io.ErrClosedPipe)
}

// closes is a body that knows whether it was closed.
type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error {
	c.closed = true
	return nil
}

// TestRefused holds that a worker that cannot be reached is an error of dialling, and
// that the body is closed then, too.
func TestRefused(t *testing.T) {
	refused := errors.New("refused")
	w := newWorker(t, says(ok))
	w.o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	r := w.request(t, "question")
	body := &closes{Reader: r.Body}
	r.Body = body
	if _, err := w.do(t, r); err != refused || !body.closed {
		t.Errorf("%v, want the dialler's error; the body is closed: %v", err, body.closed)
	}
}
