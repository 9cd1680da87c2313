package socket

import (
	"io"
	"net"
	"os"
	"syscall"
)

// conn is a TCP connection. It is as safe for concurrent use as one reader and one
// writer need, beside whoever closes it or sets deadlines.
type conn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in, out transfer
	one     [1]byte // to look
	waits   func()  // called before waiting; nil: nobody cares
}

// transfer is what is being read or written.
type transfer struct {
	conn  *conn
	try   func(fd uintptr) bool // false: wait until the socket is ready
	p     []byte
	n     int
	looks bool // instead of waiting
	err   error
}

// New returns a connection that does as c does, which must not be used any more. What
// is no TCP connection comes back as it is.
func New(c net.Conn) net.Conn {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return c // it is closed: its first use tells
	}
	own := &conn{TCPConn: t, raw: raw}
	own.in.conn, own.out.conn = own, own
	own.in.try, own.out.try = own.in.read, own.out.write
	return own
}

// Before has f called whenever a read or a write is about to wait: perhaps by both at
// once, and more than once for each. It must be set before the connection is used. It
// reports false, and nothing is called, for a connection that New has left as it was.
func Before(c net.Conn, f func()) bool {
	own, ok := c.(*conn)
	if ok {
		own.waits = f
	}
	return ok
}

// Quiet reports whether nothing has come on a connection that nobody reads: neither
// its end nor bytes. It does not wait. Of a connection that New has left as it was
// nothing is known.
func Quiet(c net.Conn) bool {
	own, ok := c.(*conn)
	if !ok {
		return true
	}
	own.in.looks = true
	_, err := own.Read(own.one[:])
	own.in.looks = false
	return err == syscall.EAGAIN //nolint:errorlint // read does not wrap it
}

// Read reads what has come, or waits.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t := &c.in
	t.p, t.n, t.err = p, 0, nil
	err := c.raw.Read(t.try)
	if t.p = nil; err == nil {
		err = c.told("read", t.err)
	}
	return t.n, err
}

// Write writes all of p, or waits.
func (c *conn) Write(p []byte) (int, error) {
	t := &c.out
	t.p, t.n, t.err = p, 0, nil
	err := c.raw.Write(t.try)
	if t.p = nil; err == nil {
		err = c.told("write", t.err)
	}
	return t.n, err
}

// told returns an error of a system call as the net package would.
func (c *conn) told(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok && errno != syscall.EAGAIN { //nolint:errorlint // ours
		return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
	}
	return err
}

func (t *transfer) read(fd uintptr) bool {
	n, errno := call(syscall.SYS_READ, fd, t.p)
	switch {
	case errno == syscall.EAGAIN && !t.looks:
		return t.wait()
	case errno != 0:
		t.err = errno
	case n == 0:
		t.err = io.EOF
	}
	t.n = n
	return true
}

func (t *transfer) write(fd uintptr) bool {
	for t.n < len(t.p) {
		n, errno := call(syscall.SYS_WRITE, fd, t.p[t.n:])
		switch t.n += n; errno {
		case 0:
		case syscall.EAGAIN:
			return t.wait()
		default:
			t.err = errno
			return true
		}
	}
	return true
}

// wait returns false: the net package waits.
func (t *transfer) wait() bool {
	if t.conn.waits != nil {
		t.conn.waits()
	}
	return false
}
