package downstream

import (
	"net"
	"time"
)

// preface is the head that HTTP/2 begins with (RFC 9113, 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\n"

// handOver has net/http serve the connection, from its first byte.
func (c *conn) handOver(head string) {
	buffered, _ := c.in.Peek(c.in.Buffered())
	c.state.Store(over)
	_ = c.SetReadDeadline(time.Time{})
	c.server.rest.hand(&begun{Conn: c.Conn, first: head + string(buffered)})
}

// begun is a connection whose first bytes were read.
type begun struct {
	net.Conn
	first string
}

// Read reads on.
func (b *begun) Read(p []byte) (int, error) {
	if b.first != "" {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// handed is a listener for connections that come from another one.
type handed struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
}

// hand passes a connection on.
func (h *handed) hand(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		c.Close()
	}
}

// Accept returns the next connection.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close leaves it to the server to close it.
func (h *handed) Close() error { return nil }

// Addr returns the address of the listener.
func (h *handed) Addr() net.Addr { return h.address }
