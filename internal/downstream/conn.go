package downstream

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gatewayd/internal/http1"
	"gatewayd/internal/socket"
)

// readBuffer is the size of a reader in bytes. A head that is longer costs copies.
const readBuffer = 4 << 10

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}

// What a connection is doing.
const (
	idle   int32 = iota // waiting for a request
	active              // reading or answering one
	over                // closed, or about to be
)

// conn is a client's connection.
type conn struct {
	net.Conn // the one beneath, or TLS over it
	beneath  net.Conn
	server   *Server
	raw      syscall.RawConn // nil for one that is not watched
	served   bool            // a request, at least
	state    atomic.Int32
	in       *bufio.Reader // nil while nothing is to be read
	asked    limit         // of reading
	given    limit         // of writing

	// Of the request.
	mu       sync.Mutex  // holds left, heard, and the context of the request
	left     bool        // nobody waits for answers any more
	heard    overhearing // over TLS
	request  Request
	body     body
	response response
}

// newConn returns nil for a connection that cannot be watched while a request runs.
func newConn(s *Server, c net.Conn) *conn {
	beneath, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := beneath.SyscallConn()
	if err != nil {
		return nil
	}
	own := s.conn(socket.New(c))
	own.raw = raw
	own.encrypt(s.tls)
	return own
}

// conn returns a plain connection that is not watched.
func (s *Server) conn(c net.Conn) *conn {
	own := &conn{Conn: c, beneath: c, server: s}
	own.request.Major, own.request.Remote = 1, c.RemoteAddr().String()
	return own
}

// serve answers requests one after the other.
func (c *conn) serve() {
	handed := false
	defer func() {
		if c.gone(); !handed {
			c.cut()
		}
		c.letGo()
		c.server.forget(c)
	}()
	var ours bool
	if ours, handed = c.shake(); !ours {
		return
	}
	for c.await() {
		head, err := http1.ReadHead(c.in, c.server.o.Base.MaxHeaderBytes)
		if err == nil && head == preface && !c.request.TLS {
			handed = true
			c.handOver(head)
			return
		}
		r := &c.request
		if err == nil {
			r.Arrived = time.Now()
			err = http1.ParseRequest(&r.Request, head)
		}
		if err != nil {
			c.refuse(err)
			return
		}
		if !c.answer(r) {
			return
		}
		c.served = true
		r.Request = http1.Request{Header: kept(r.Header)}
		c.response.header = kept(c.response.header)
	}
	c.part()
}

// keptFields is for how many fields a connection keeps the room.
const keptFields = 64

// kept returns a header's room for the next one, without what it held on to.
func kept(h http1.Header) http1.Header {
	if cap(h) > keptFields {
		return nil
	}
	clear(h)
	return h[:0]
}

// await waits for the next request and reports whether one comes.
func (c *conn) await() bool {
	base := c.server.o.Base
	if c.in == nil {
		c.in = readers.Get().(*bufio.Reader)
		c.in.Reset(c)
	}
	wait := base.IdleTimeout
	if !c.served {
		wait = base.ReadHeaderTimeout
	}
	c.asked.want(time.Now().Add(wait))
	c.given.want(time.Time{})
	b, err := c.in.Peek(1)
	if err == nil && b[0] == '\r' { // an empty line before a request does not matter (RFC 9112, 2.2)
		if b, err = c.in.Peek(2); err == nil && b[1] == '\n' {
			_, _ = c.in.Discard(2)
			_, err = c.in.Peek(1)
		}
	}
	if err != nil || !c.state.CompareAndSwap(idle, active) {
		return false
	}
	c.asked.want(time.Now().Add(base.ReadHeaderTimeout))
	return true
}

// letGo gives the reader back.
func (c *conn) letGo() {
	if c.in == nil {
		return
	}
	c.in.Reset(nil)
	readers.Put(c.in)
	c.in = nil
}
