package downstream

import (
	"errors"
	"os"
	"time"
)

// glance is how long a look at what a client of TLS has sent may take.
const glance = 20 * time.Millisecond

// overhearing is what is read of a client of TLS while its request runs. That it has left
// it may say within TLS (close_notify, RFC 8446, 6.1) and keep its socket. The first two are
// of whoever reads, the others are held by the connection's lock.
type overhearing struct {
	early [1]byte       // the beginning of the next request
	ahead bool          // it has come
	free  bool          // nobody else reads
	once  bool          // it was tried in this request: TLS may have read ahead of its socket
	ended chan struct{} // closed when the one that reads has ended; nil: nobody does
}

// rests notes that nobody reads until the request is answered.
func (c *conn) rests() {
	if !c.request.TLS {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.free, c.heard.once = true, false
}

// listen reads what has come, if nobody else does; there says that the socket has something.
// It does not wait.
func (c *conn) listen(there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.heard
	if !h.free || h.ended != nil || h.once && !there {
		return
	}
	h.once, h.ended = true, make(chan struct{})
	_ = c.SetReadDeadline(time.Now().Add(glance))
	go c.overhear(h.ended)
}

// overhear reads a byte, and finds out whether the client has left.
func (c *conn) overhear(ended chan struct{}) {
	n, err := c.Conn.Read(c.heard.early[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.heard.ahead, c.heard.free = true, false
	}
	c.heard.ended = nil
	close(ended)
}

// hush ends the listening: the next request is to be read, within a limit of its own.
func (c *conn) hush() {
	if !c.request.TLS {
		return
	}
	c.mu.Lock()
	c.heard.free = false
	ended := c.heard.ended
	if ended != nil {
		now := time.Now()
		_ = c.SetReadDeadline(now)
		c.given.next = now.Add(c.server.o.Base.ReadHeaderTimeout) // reading may have to write
		_ = c.SetWriteDeadline(c.given.next)
	}
	c.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
