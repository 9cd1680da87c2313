package downstream

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A deadline strikes when it is due, however often and whereto it was moved before, and
// never because of one that was in force before.
func TestLimits(t *testing.T) {
	const s = time.Second
	for name, dues := range map[string][]time.Duration{
		"one":               {3 * s},
		"moved on":          {3 * s, 5 * s},
		"moved on, often":   {1 * s, 2 * s, 3 * s, 4 * s, 30 * s},
		"moved back":        {9 * s, 3 * s},
		"back and forth":    {9 * s, 3 * s, 6 * s, 2 * s, 4 * s},
		"taken off and set": {3 * s, 0, 7 * s},
		"far, near, far":    {100 * s, 1 * s, 50 * s},
		"past":              {-1 * s},
	} {
		for way, use := range map[string]func(c *conn, b []byte) (int, error){"read": (*conn).Read, "write": (*conn).Write} {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				c := &conn{Conn: near}
				begin := time.Now()
				for i, d := range dues {
					due := begin.Add(d)
					if d == 0 {
						due = time.Time{}
					}
					c.asked.want(due)
					c.given.want(due)
					if i == len(dues)-1 {
						break
					}
					if d > 0 { // one byte passes at once
						go io.ReadFull(far, make([]byte, 1))
						c.Write([]byte{1})
						go far.Write([]byte{1})
						c.Read(make([]byte, 1))
					}
				}
				n, err := use(c, make([]byte, 1))
				if took := time.Since(begin); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || took != max(dues[len(dues)-1], 0) {
					t.Errorf("%s, %s: %d bytes, %v after %v", name, way, n, err, took)
				}
				near.Close()
				far.Close()
			})
		}
	}
}

// Waking up early loses nothing of what is read and written.
func TestWakingUpEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		c := &conn{Conn: near}
		arm := func() {
			c.asked.want(time.Now().Add(time.Second))
			c.given.want(time.Now().Add(time.Second))
			c.asked.arm(c.SetReadDeadline)
			c.given.arm(c.SetWriteDeadline)
		}
		got := make(chan string)
		for _, due := range []time.Time{{}, time.Now().Add(time.Hour)} {
			arm()
			c.asked.want(due)
			c.given.want(due)
			go func() {
				b := make([]byte, 10)
				<-time.After(2 * time.Second) // a half is written before the first limit has passed
				io.ReadFull(far, b[:5])
				<-time.After(2 * time.Second)
				io.ReadFull(far, b[5:])
				got <- string(b)
				<-time.After(2 * time.Second)
				far.Write([]byte("answer"))
			}()
			if n, err := c.Write([]byte("0123456789")); n != 10 || err != nil {
				t.Errorf("%d bytes written, %v", n, err)
			}
			if s := <-got; s != "0123456789" {
				t.Errorf("%q arrived", s)
			}
			b := make([]byte, 10)
			if n, err := c.Read(b); string(b[:n]) != "answer" || err != nil {
				t.Errorf("%q read, %v", b[:n], err)
			}
		}
	})
}

// A deadline that has passed while nobody waited does not hide what has come.
func TestPassedWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		c := &conn{Conn: near}
		c.asked.want(time.Now().Add(time.Second))
		c.asked.arm(c.SetReadDeadline)
		<-time.After(time.Minute)
		c.asked.want(time.Now().Add(time.Second))
		go far.Write([]byte("x"))
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}
