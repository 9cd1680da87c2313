package upstream

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"time"
	"unsafe"
)

// maxHead bounds the head of an answer in bytes, and maxInterim the answers before
// the final one (100 to 199).
const (
	maxHead    = 1 << 20
	maxInterim = 8
)

var (
	errHead    = errors.New("upstream: the head of the answer is larger than 1 MiB")
	errInterim = errors.New("upstream: too many interim answers")
)

// past is a deadline that ends all reading and writing at once.
var past = time.Unix(1, 0)

// conn is a connection to a worker with at most one exchange on it.
type conn struct {
	net.Conn
	host  string
	raw   syscall.RawConn // nil if it has none
	in    *bufio.Reader   // reads from the conn
	room  int             // bytes that the head may still take; < 0: no head is read
	since time.Time       // unused since then

	// Of the exchange.
	gone    func() error // the error of its context
	stop    func() bool  // ends the watch over the context; false: it has struck
	written chan struct{}
	failed  error // of writing; valid once written is closed
}

// attend has the end of the context end the exchange.
func (c *conn) attend(ctx context.Context) {
	c.gone = ctx.Err
	c.stop = context.AfterFunc(ctx, func() { _ = c.SetDeadline(past) }) // a closed one has ended anyway
}

// Read reads from the connection; a head only up to its limit.
func (c *conn) Read(b []byte) (int, error) {
	if c.room < 0 {
		return c.Conn.Read(b)
	}
	if c.room == 0 {
		return 0, errHead
	}
	n, err := c.Conn.Read(b[:min(len(b), c.room)])
	c.room -= n
	return n, err
}

// WriteString writes to the connection without a copy of the text.
func (c *conn) WriteString(s string) (int, error) {
	return c.Conn.Write(unsafe.Slice(unsafe.StringData(s), len(s))) // which only reads it
}

// answer reads the head of the final answer.
func (c *conn) answer(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	c.room = maxHead
	defer func() { c.room = -1 }()
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	for range maxInterim {
		resp, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, errInterim
}

// because prefers the error of writing as the reason of one of reading.
func (c *conn) because(err error) error {
	select {
	case <-c.written:
		if c.failed != nil {
			return c.failed
		}
	default:
	}
	return err
}

// blame prefers the context's error as the reason of another one.
func (c *conn) blame(err error) error {
	if gone := c.gone(); gone != nil {
		return gone
	}
	return err
}

// wait waits until nothing is written any more.
func (c *conn) wait() {
	<-c.written
	c.stop()
}

// clean reports whether the exchange has left the connection as it was before: the
// request is written, nothing is left to read, and no deadline is set.
func (c *conn) clean() bool {
	select {
	case <-c.written:
	default:
		return false
	}
	return c.stop() && c.failed == nil && c.in.Buffered() == 0
}
