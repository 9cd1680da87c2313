package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"gatewayd/internal/http1"
	"gatewayd/internal/socket"
)

// Options sets up a Transport. Dial and Next are required.
type Options struct {
	// Dial makes a connection within its own time limit.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Next takes the requests that are not for this transport.
	Next http.RoundTripper
	// IdleTimeout is how long an unused connection is kept, > 0.
	IdleTimeout time.Duration
	// IdlePerHost bounds the unused connections to one worker, > 0.
	IdlePerHost int
}

// Hooks hears how a request fares, in this order, but that an answer may come while the
// request is still written. It may be called from another goroutine.
type Hooks interface {
	Connected(reused bool)
	Wrote(err error) // the whole request; nil: it went well
	Answered()       // a byte of the answer has come
}

// Transport makes requests on connections that are kept alive. It is safe for
// concurrent use.
type Transport struct {
	o    Options
	idle idle
}

// New returns a transport without connections.
func New(o Options) *Transport {
	return &Transport{o: o, idle: idle{timeout: o.IdleTimeout, perHost: o.IdlePerHost, hosts: map[string][]*conn{}}}
}

// CloseIdleConnections closes the connections that are not in use.
func (t *Transport) CloseIdleConnections() {
	t.idle.closeAll()
	if c, ok := t.o.Next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Do sends a request and reads the head of the answer. As http.RoundTripper it closes
// the request's body, and the caller closes the answer's. A request is never sent twice.
// An answer may come before the request is sent whole; the rest is then sent while the
// answer is read, until its body is closed.
func (t *Transport) Do(ctx context.Context, r *Request, h Hooks) (*Response, error) {
	if r.URL.Scheme != "http" {
		return Via(ctx, t.o.Next, r, h)
	}
	runtime.Gosched() // requests that are written one after the other wake the worker once
	c, reused, err := t.connect(ctx, r.URL.Host)
	if err != nil {
		r.Body.Close()
		return nil, err
	}
	h.Connected(reused)
	c.begin(ctx)
	c.send(r, h)
	resp, err := c.answer(h)
	if err != nil {
		err = c.because(err)
		c.Close()
		c.wait()
		return nil, c.blame(err)
	}
	b := &body{conn: c, idle: &t.idle, keep: !resp.Close}
	switch {
	case r.Method == http.MethodHead, resp.StatusCode < http.StatusOK, resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified:
		resp.Length = 0
	}
	if resp.Length == 0 {
		b.keep = b.keep && resp.StatusCode >= http.StatusOK
		b.release()
		resp.Body = http.NoBody
		return resp, nil
	}
	b.keep = b.keep && (resp.Chunked || resp.Length != http1.Unknown)
	if resp.Length == http1.Unknown || resp.Length > int64(c.in.Buffered()) {
		c.attend() // it may go on without ever waiting
	}
	b.from, resp.Body = http1.NewBody(c.in, resp.Length, resp.Chunked), b
	return resp, nil
}

// connect returns a connection to a host, a kept one if there is one.
func (t *Transport) connect(ctx context.Context, host string) (c *conn, reused bool, err error) {
	if c := t.idle.take(host); c != nil {
		return c, true, nil
	}
	address := host
	if _, _, err := net.SplitHostPort(host); err != nil {
		address = net.JoinHostPort(host, "80")
	}
	dialled, err := t.o.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, false, err
	}
	c = &conn{Conn: socket.New(dialled), host: host}
	c.in = bufio.NewReaderSize(c, readBuffer)
	c.expire = func() { _ = c.SetDeadline(past) } // a closed one has ended anyway
	c.tells = socket.Before(c.Conn, c.attend)
	return c, false, nil
}

// Buffers, in bytes. A request up to writeBuffer is one write.
const (
	readBuffer  = 2 << 10
	writeBuffer = 32 << 10
)

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

// send writes the request: a short one before it returns, a long one meanwhile,
// since a worker may answer before it has read everything.
func (c *conn) send(r *Request, h Hooks) {
	if c.written = nil; r.Length <= writeBuffer/2 {
		c.write(r, h)
		return
	}
	written := make(chan struct{})
	c.written = written
	go func() {
		defer close(written)
		c.write(r, h)
	}()
}

// write writes the request. Where its body is to blame for an error nobody would
// answer, so the connection ends; a worker that has hung up may have said why.
func (c *conn) write(r *Request, h Hooks) {
	w := writers.Get().(*bufio.Writer)
	w.Reset(c)
	c.failed = writeRequest(w, r)
	w.Reset(nil)
	writers.Put(w)
	h.Wrote(c.failed)
	var network *net.OpError
	if c.failed != nil && !errors.As(c.failed, &network) {
		c.Close()
	}
}

// framing reports whether the transport writes the header field itself.
func framing(name string) bool {
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection":
		return true
	}
	return false
}

// errLength says that a body is not as long as it was said to be.
var errLength = errors.New("upstream: the request's body does not have its length")

func writeRequest(w *bufio.Writer, r *Request) error {
	defer r.Body.Close()
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	for _, part := range []string{r.Method, " ", r.URL.RequestURI(), " HTTP/1.1\r\nHost: ", host, "\r\nContent-Length: "} {
		w.WriteString(part) // the error comes back from Flush
	}
	w.Write(strconv.AppendInt(w.AvailableBuffer(), r.Length, 10))
	w.WriteString("\r\n")
	w.Write(r.Header.Append(w.AvailableBuffer(), framing))
	w.WriteString("\r\n")
	switch n, err := copyBody(w, r); {
	case err != nil:
		return err
	case n != r.Length:
		return errLength
	}
	return w.Flush()
}

// copyBody writes the body; one that can write itself needs no buffer.
func copyBody(w io.Writer, r *Request) (int64, error) {
	if b, ok := r.Body.(io.WriterTo); ok {
		return b.WriteTo(w)
	}
	return io.Copy(w, io.LimitReader(r.Body, r.Length))
}
