package upstream

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"gatewayd/internal/http1"
)

// maxHead bounds the head of an answer in bytes, and maxInterim the answers before
// the final one (100 to 199).
const (
	maxHead    = 1 << 20
	maxInterim = 8
)

var errInterim = errors.New("upstream: too many interim answers")

// past is a deadline that ends all reading and writing at once.
var past = time.Unix(1, 0)

// conn is a connection to a worker with at most one exchange on it.
type conn struct {
	net.Conn
	host   string
	in     *bufio.Reader // reads from the conn
	since  time.Time     // unused since then
	tells  bool          // before it waits
	expire func()        // ends all reading and writing

	// Of the exchange.
	ctx     context.Context
	mu      sync.Mutex
	stop    func() bool     // ends the watch over the context, false: it has struck; nil: there is none
	written <-chan struct{} // closed once the request is written; nil: it is
	failed  error           // of writing; valid from then on
}

// begin begins an exchange that the end of the context ends, as soon as it waits.
func (c *conn) begin(ctx context.Context) {
	if c.ctx = ctx; !c.tells {
		c.attend()
	}
}

// attend has the end of the context end the exchange.
func (c *conn) attend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.stop = context.AfterFunc(c.ctx, c.expire)
	}
}

// leave undoes attend, and reports false if the context has ended the exchange.
func (c *conn) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop == nil || c.stop()
}

// WriteString writes to the connection without a copy of the text.
func (c *conn) WriteString(s string) (int, error) {
	return c.Conn.Write(unsafe.Slice(unsafe.StringData(s), len(s))) // which only reads it
}

// answer reads the head of the final answer.
func (c *conn) answer(h Hooks) (*Response, error) {
	runtime.Gosched() // who else can go on, goes first: the answer may have come then
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	h.Answered()
	for range maxInterim {
		head, err := http1.ReadHead(c.in, maxHead)
		if err != nil {
			return nil, err
		}
		resp := new(Response)
		if err := http1.ParseResponse(&resp.Response, head); err != nil {
			return nil, err
		}
		if resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
	return nil, errInterim
}

// sent reports whether the request is written.
func (c *conn) sent() bool {
	if c.written == nil {
		return true
	}
	select {
	case <-c.written:
		return true
	default:
		return false
	}
}

// because prefers the error of writing as the reason of one of reading.
func (c *conn) because(err error) error {
	if c.sent() && c.failed != nil {
		return c.failed
	}
	return err
}

// blame prefers the context's error as the reason of another one.
func (c *conn) blame(err error) error {
	if gone := c.ctx.Err(); gone != nil {
		return gone
	}
	return err
}

// wait waits until nothing is written any more.
func (c *conn) wait() {
	if c.written != nil {
		<-c.written
	}
	c.leave()
}

// clean reports whether the exchange has left the connection as it was before: the
// request is written, nothing is left to read, and no deadline is set.
func (c *conn) clean() bool {
	return c.sent() && c.leave() && c.failed == nil && c.in.Buffered() == 0
}
