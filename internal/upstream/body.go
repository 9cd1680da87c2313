package upstream

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"gatewayd/internal/http1"
)

// body is the body of an answer. The connection is free at the body's end, and
// closed when the body is closed before.
type body struct {
	conn *conn
	idle *idle
	from http1.Body
	keep bool // the worker keeps the connection

	once   sync.Once
	closed atomic.Bool
	end    error // what Read says behind the end
}

var errClosed = errors.New("upstream: the answer's body is closed")

// Read reads on. After the request's context has ended it fails with its error, unless
// the answer had come whole with its head.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.end != nil:
		return 0, b.end
	case b.closed.Load():
		return 0, errClosed
	}
	n, err := b.from.Read(p)
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		b.release()
	} else {
		err = b.conn.blame(err)
		b.Close()
	}
	b.end = err
	return n, err
}

// Await waits until bytes of the answer have come, or its end.
func (b *body) Await() {
	if b.end == nil && !b.closed.Load() {
		_, _ = b.conn.in.Peek(1) // Read tells the error
	}
}

// Buffered returns the bytes that have come and were not read.
func (b *body) Buffered() int { return b.conn.in.Buffered() }

// Close closes the connection, unless the body was read to its end. It may be
// called at the same time as Read.
func (b *body) Close() error {
	b.closed.Store(true)
	b.once.Do(func() {
		b.conn.Close()
		b.conn.wait()
	})
	return nil
}

// release gives the connection back.
func (b *body) release() {
	b.once.Do(func() {
		if b.keep && b.conn.clean() {
			b.idle.put(b.conn)
			return
		}
		b.conn.Close()
		b.conn.wait()
	})
}
