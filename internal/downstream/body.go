package downstream

import (
	"errors"
	"io"
	"strings"
	"time"

	"gatewayd/internal/http1"
)

// restBytes is how much of an unread body is read so that the connection can go on.
const restBytes = 256 << 10

var errClosed = errors.New("downstream: the request's body is closed")

// body is a request's body.
type body struct {
	c     *conn
	from  http1.Body
	waits bool  // the client waits for 100-continue
	at    error // what Read says without reading
}

// begin begins the body of a request.
func (b *body) begin(c *conn, r *Request) {
	*b = body{c: c}
	if b.from = http1.NewBody(c.in, r.Length, r.Length == http1.Unknown); r.Length == 0 {
		_ = b.end(io.EOF)
	}
}

// expected notes an Expect field and reports whether it can be met.
func (b *body) expected(values []string) bool {
	if len(values) > 1 || !strings.EqualFold(values[0], "100-continue") {
		return false
	}
	b.waits = b.at == nil
	return true
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	if b.at != nil {
		return 0, b.at
	}
	if b.waits {
		b.waits = false
		if !b.c.response.headed {
			if err := b.c.goOn(); err != nil {
				return 0, b.end(err)
			}
		}
	}
	n, err := b.from.Read(p)
	if err != nil {
		return n, b.end(err)
	}
	return n, nil
}

// end ends reading with an error. Behind the last byte that has come no reader is
// needed until the next request.
func (b *body) end(err error) error {
	if b.at = err; err == io.EOF && b.c.in.Buffered() == 0 {
		b.from = http1.Body{} // it has the reader, too
		b.c.letGo()
		b.c.rests()
	}
	return err
}

// Close ends reading.
func (b *body) Close() error {
	if b.at == nil {
		b.at = errClosed
	}
	return nil
}

// last reports that no request can follow the body, as far as is known yet.
func (b *body) last() bool {
	return b.waits || b.from.Left() > restBytes || b.at != nil && b.at != io.EOF && b.at != errClosed
}

// rest reads what the handler has left, and reports whether the next request follows.
// Unless the handler has bounded reading, the client has as long as for a head.
func (b *body) rest() bool {
	if b.at == errClosed {
		b.at = nil
	}
	if b.at == nil && !b.last() {
		if b.c.asked.due.IsZero() {
			b.c.asked.want(time.Now().Add(b.c.server.o.Base.ReadHeaderTimeout))
		}
		_, _ = io.CopyN(io.Discard, b, restBytes+1)
	}
	return b.at == io.EOF
}
