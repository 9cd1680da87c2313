package downstream

import (
	"context"
	"crypto/tls"
	"io"
	"time"
)

// Shutdown closes listeners and idle connections, and waits until the others have
// ended their requests, or for ctx, whose error it returns then. It may be called
// again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop((*conn).rest)
	err := s.o.Base.Shutdown(ctx)
	s.mu.Lock()
	none := s.none
	s.mu.Unlock()
	select {
	case <-none:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes listeners and connections. Handlers that run find their client gone.
func (s *Server) Close() error {
	s.stop((*conn).cut)
	return s.o.Base.Close()
}

// stop closes the listeners, and ends the connections one way or another.
func (s *Server) stop(end func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing.Swap(true) {
		close(s.ended)
		close(s.rest.closed)
	}
	for l := range s.open {
		l.Close()
		delete(s.open, l)
	}
	for c := range s.conns {
		end(c)
	}
}

// rest closes the connection if it is idle, and has it end behind its request else.
func (c *conn) rest() {
	if c.state.CompareAndSwap(idle, over) {
		c.hangUp()
	}
}

// hangUp closes a connection on which nothing is under way. Clients of TLS are told, which
// may take a while.
func (c *conn) hangUp() {
	if c.request.TLS {
		go c.Close()
		return
	}
	c.Close()
}

// part tells a client of TLS that nothing was cut off.
func (c *conn) part() {
	if t, ok := c.Conn.(*tls.Conn); ok {
		_ = t.CloseWrite() // it may have gone
	}
}

// cut ends the connection without a word.
func (c *conn) cut() {
	c.state.Store(over)
	c.gone()
	c.beneath.Close()
}

// Bounds of what is read and thrown away behind an answer, so that the client gets to
// read it: closing with unread input makes the client's system drop it.
const (
	lingerBytes = 1 << 20
	lingerTime  = 500 * time.Millisecond
)

// linger ends the connection in a way that lets the client read the answer.
func (c *conn) linger() bool {
	c.hush()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
	}
	return false
}
