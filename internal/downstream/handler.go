package downstream

import (
	"context"
	"io"
	"time"

	"gatewayd/internal/http1"
)

// Handler answers requests. It may panic with http.ErrAbortHandler to break off an
// answer.
type Handler interface {
	// Serve answers a request; it is called for many at once. Neither w nor r, nor what
	// they consist of but what End returns, may be used after it has returned: the next
	// request on the connection has them.
	Serve(w Writer, r *Request)
}

// Request is a request and its body.
type Request struct {
	http1.Request
	Major   int       // of the version of HTTP: 1 or 2
	TLS     bool      // it came over TLS
	Remote  string    // the client's address
	Arrived time.Time // of its head
	Body    io.ReadCloser
	ctx     context.Context
	end     context.CancelCauseFunc
}

// NewRequest returns a request that has come now, by HTTP/1 without TLS. Call what End
// returns when it is over.
func NewRequest(ctx context.Context, head http1.Request, body io.ReadCloser) *Request {
	r := &Request{Request: head, Major: 1, Arrived: time.Now(), Body: body}
	r.ctx, r.end = context.WithCancelCause(ctx)
	return r
}

// Context ends when the client leaves, within half a second, when the connection ends,
// and with the request.
func (r *Request) Context() context.Context { return r.ctx }

// End returns what ends the context before, with a cause. It may be kept, and called late,
// again, and from any goroutine.
func (r *Request) End() context.CancelCauseFunc { return r.end }

// Writer takes the answer to a request.
type Writer interface {
	// Header returns the header fields. What is changed behind WriteHeader has no
	// effect. Without a Content-Length the end of the body shows by its framing.
	Header() *http1.Header
	// WriteHeader begins the answer. Only the first call counts, and interim statuses
	// (1xx) are not sent.
	WriteHeader(status int)
	// Write writes a part of the body, perhaps later: Flush, and the end of the answer,
	// write it in any case. Where the answer has no body (to HEAD, 204, 304) it is taken
	// and not sent. Without a WriteHeader before, the status is 200.
	Write(b []byte) (int, error)
	Control
}

// Control is the rest of what a Writer can do. Deadlines bound reading and writing that
// begin behind them; the zero time takes one off.
type Control interface {
	Flush() error // writes what was not written yet
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}
