package downstream

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Who speaks plain HTTP where TLS is spoken is told so.
func TestPlainRequestsToTLS(t *testing.T) {
	w := on(t, scripted(t), func(Writer, *Request) { t.Error("a request was served") }, func(s *http.Server) { s.TLSConfig = certified() })
	plain := &world{address: w.address}
	for _, begin := range []string{"GET /a HTTP/1.1\r\n", "POST /a HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n"} {
		c := plain.wire(t)
		c.say("%sHost: g\r\n\r\n", begin)
		if r, text := c.hear("GET"); r.StatusCode != http.StatusBadRequest || !r.Close || !strings.Contains(text, "use https") {
			t.Errorf("%q: %s %q, close %v", begin, r.Status, text, r.Close)
		}
		c.closed()
	}
	if log := w.log.String(); log != "" {
		t.Errorf("the log:\n%s", log)
	}
}

// What is no handshake ends the connection, with a line in the log if something came.
func TestWrongHandshakes(t *testing.T) {
	for name, c := range map[string]struct {
		send string
		log  string // "": none
	}{
		"nothing":       {"", ""},
		"a reset":       {"", ""},
		"an end":        {"", ""},
		"garbage":       {"\x00\x01\x02\x03\x04\x05", "first record does not look like a TLS handshake"},
		"small letters": {"get / http/1.1\r\n\r\n", "first record does not look like a TLS handshake"},
		"a half":        {"\x16\x03\x01\x00\x80\x01", "EOF"},
		"no hello":      {"\x16\x03\x01\x00\x04\x02\x00\x00\x00", "local error: tls"},
	} {
		t.Run(name, func(t *testing.T) {
			w := on(t, scripted(t), func(Writer, *Request) { t.Error("a request was served") }, func(s *http.Server) { s.TLSConfig = certified() })
			wire := (&world{address: w.address}).wire(t)
			wire.say("%s", c.send)
			switch name {
			case "a reset":
				wire.tcp.SetLinger(0)
				wire.Close()
			case "an end":
				w.Close()
			default:
				wire.CloseWrite()
				wire.rest()
			}
			w.ends(t)
			if log := w.log.String(); strings.Contains(log, "TLS handshake with "+wire.LocalAddr().String()+": ") != (c.log != "") || !strings.Contains(log, c.log) {
				t.Errorf("the log: %q, want %q in it", log, c.log)
			}
		})
	}
}

// A handshake may take as long as a head.
func TestSlowHandshake(t *testing.T) {
	secure := certified()
	for _, begin := range []string{"", "\x16\x03\x01\x00\x80\x01"} {
		synctest.Test(t, func(t *testing.T) {
			said := &lines{more: make(chan struct{}, 1)}
			s := New(Options{
				Base:    &http.Server{ReadHeaderTimeout: time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 10, ErrorLog: log.New(said, "", 0)},
				Handler: handler(echo), Refuse: refuse,
			})
			near, far := net.Pipe()
			own := s.conn(near)
			own.encrypt(secure)
			s.start(own)
			go io.WriteString(far, begin)
			since := time.Now()
			if rest, err := io.ReadAll(far); len(rest) > 0 || err != nil || time.Since(since) != time.Second {
				t.Errorf("%q: %q, %v after %v", begin, rest, err, time.Since(since))
			}
			far.Close()
			<-s.none
			if log := said.String(); !strings.Contains(log, "i/o timeout") {
				t.Errorf("%q: the log %q", begin, log)
			}
		})
	}
}

// Clients of TLS are told when nothing was cut off: behind an answer that the connection
// ends with, when it was idle for too long, and by Shutdown.
func TestGoodbyes(t *testing.T) {
	began, shut := make(chan struct{}), make(chan struct{})
	for name, end := range map[string]func(w *world, c *wire){
		"behind it": func(w *world, c *wire) { // an answer that had begun when the server was shut down
			c.say("GET /long HTTP/1.1\r\nHost: g\r\n\r\n")
			<-began
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				w.ends(t)
			}()
			<-w.served
			shut <- struct{}{}
			if r, text := c.hear("GET"); r.Close || text != "begun, ended" {
				t.Errorf("%s %q, close %v", r.Status, text, r.Close)
			}
			<-ended
		},
		"answer":   func(_ *world, c *wire) { c.say("GET / HTTP/1.0\r\n\r\n") },
		"idle":     func(*world, *wire) {},
		"shutdown": func(w *world, _ *wire) { w.ends(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := on(t, scripted(t), func(w Writer, r *Request) {
				if r.Path != "/long" {
					echo(w, r)
					return
				}
				io.WriteString(w, "begun, ")
				w.Flush()
				began <- struct{}{}
				<-shut
				io.WriteString(w, "ended")
			}, func(s *http.Server) {
				if s.TLSConfig = certified(); name == "idle" {
					s.IdleTimeout = short
				}
				s.TLSConfig.MaxVersion = tls.VersionTLS12 // whose records tell what they are
			})
			c := w.wire(t)
			seen := &tap{Conn: c.tcp}
			c.Conn = tls.Client(seen, &tls.Config{InsecureSkipVerify: true})
			c.in = bufio.NewReader(c.Conn)
			c.ask("/", "/")
			end(w, c)
			c.rest()
			if !seen.alert() {
				t.Error("the connection ended without close_notify")
			}
		})
	}
}

// tap keeps what is read.
type tap struct {
	net.Conn
	all []byte
}

func (r *tap) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.all = append(r.all, p[:n]...)
	return n, err
}

// alert reports whether the last record is an alert (RFC 5246, 6.2.1 and 7.2).
func (r *tap) alert() bool {
	const head, alert = 5, 21
	kind := byte(0)
	for b := r.all; len(b) >= head; {
		kind = b[0]
		b = b[min(len(b), head+int(binary.BigEndian.Uint16(b[3:]))):]
	}
	return kind == alert
}

// deadlines is a connection that notes how long writing may take.
type deadlines struct {
	net.Conn
	writing time.Time
}

func (d *deadlines) SetReadDeadline(time.Time) error    { return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.writing = t; return nil }
func (d *deadlines) Read(p []byte) (int, error)         { return len(p), nil }
func (d *deadlines) Write(p []byte) (int, error)        { return len(p), nil }

// What TLS writes while it reads is bounded as writing is, or as reading where that is not,
// and never by what was due before.
func TestWritingWhileReading(t *testing.T) {
	d := &deadlines{}
	c := &conn{Conn: d}
	c.asked.exact, c.given.exact = true, true
	soon, late := time.Unix(1e9, 0), time.Unix(2e9, 0)
	use := func(what string, f func([]byte) (int, error), asked, given, want time.Time) {
		t.Helper()
		c.asked.want(asked)
		c.given.want(given)
		if f(make([]byte, 1)); d.writing != want {
			t.Errorf("%s, within %v and %v: writing may take until %v", what, asked, given, d.writing)
		}
	}
	none := time.Time{}
	use("read", c.Read, soon, none, soon)
	use("read", c.Read, late, none, late)
	use("read", c.Read, late, soon, soon)
	use("write", c.Write, late, soon, soon)
	use("write", c.Write, late, none, none)
	use("read", c.Read, none, late, late)
	use("read", c.Read, none, none, none)
}
