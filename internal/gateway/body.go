package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"gatewayd/internal/http1"
)

// pace is how fast a client must be. Only tests have others than steady.
type pace struct {
	grace time.Duration // for the first bytes of a body
	rate  int           // bytes per second of a body behind that, on average
	stall time.Duration // for a client that takes nothing of its answer
	end   time.Duration // for one to be told that timeouts.total is over
}

// steady lets a client behind a slow line (a megabyte in four minutes) pass,
// and none that only holds a connection.
var steady = pace{grace: 15 * time.Second, rate: 4 << 10, stall: time.Minute, end: 5 * time.Second}

// trusted is how much of a body must have come before its Content-Length is
// believed and room made for all of it.
const trusted = 1 << 20

// Room that is made for a body in which its end is looked for, in bytes, and for one
// whose length is not said.
const (
	endRoom = 512
	unknown = 2 << 10
)

// All bodies together may take so much memory: so many of the greatest size, or
// so many bytes if that is more.
const (
	heldBodies = 32
	heldBytes  = 256 << 20
)

// readBody reads the whole request body. It counts as held from here on.
func (x *exchange) readBody() (string, *apiError) {
	if err := encoding(x.r.Header); err != nil {
		return "", err
	}
	limit := int64(x.cfg.Limits.BodyBytes)
	length := x.r.Length
	if length > limit {
		return "", tooLarge(limit)
	}
	text := make([]byte, 0, min(max(length, unknown), trusted)+endRoom)
	for {
		if len(text) > 0 || x.cfg.Timeouts.Total < x.pace.grace { // patient has given it that
			x.hurry(len(text))
		}
		n, err := x.r.Body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		needed := len(text)
		if int64(needed) > limit {
			return "", tooLarge(limit)
		}
		if needed > trusted && int(length) > needed {
			needed = int(length)
		}
		if !x.hold(int64(needed)) {
			return "", &apiError{status: http.StatusServiceUnavailable, kind: "server_error", code: "overloaded",
				message: "the bodies of other requests fill the gateway's memory", retryAfter: time.Second}
		}
		switch {
		case err == io.EOF:
			_ = x.w.SetReadDeadline(time.Time{})
			return unsafe.String(unsafe.SliceData(text), len(text)), nil // nobody writes to it any more
		case err != nil:
			return "", unread(err)
		}
		if whole := needed + endRoom; needed > len(text) && cap(text) < whole {
			text = append(make([]byte, 0, whole), text...)
		}
		text = slices.Grow(text, endRoom)
	}
}

// hurry gives the client time for more of its body, by what came so far.
func (x *exchange) hurry(sofar int) {
	p := x.pace
	deadline := x.start.Add(p.grace + time.Duration(sofar)*time.Second/time.Duration(p.rate))
	if total := x.start.Add(x.cfg.Timeouts.Total); deadline.After(total) {
		deadline = total
	}
	_ = x.w.SetReadDeadline(deadline)
}

// encoding refuses encoded bodies: their true size is unknown.
func encoding(h http1.Header) *apiError {
	for _, f := range h {
		if f.Name == "Content-Encoding" && f.Value != "" && !strings.EqualFold(f.Value, "identity") {
			return &apiError{status: http.StatusUnsupportedMediaType, kind: "invalid_request_error", code: "unsupported_encoding",
				message: "encoded request bodies are not accepted; send the body as it is"}
		}
	}
	return nil
}

func tooLarge(limit int64) *apiError {
	return &apiError{status: http.StatusRequestEntityTooLarge, kind: "invalid_request_error", code: "body_too_large",
		message: fmt.Sprintf("the body is larger than limits.body_bytes, %d bytes", limit), last: true}
}

// unread says why a body could not be read.
func unread(err error) *apiError {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &apiError{status: http.StatusRequestTimeout, kind: "invalid_request_error", code: "body_too_slow", message: "the body came too slowly", last: true}
	default:
		e := badRequest("", "the body could not be read: it ended early")
		e.last = true
		return e
	}
}

// hold counts the exchange's body as so many bytes of memory. It reports false,
// and changes nothing, if that is more than there is room for.
func (x *exchange) hold(n int64) bool {
	if n == x.held {
		return true
	}
	if x.inMemory.Add(n-x.held) > x.room {
		x.inMemory.Add(x.held - n)
		return false
	}
	x.held = n
	return true
}

// drop lets the body go: nobody needs it any more.
func (x *exchange) drop() {
	x.body = ""
	x.hold(0)
}

// replay is a body on its way to a worker. It lets go of the text when it was
// read or closed: an answer may be relayed for a long time after that.
type replay struct {
	mu   sync.Mutex // a transport may close while it reads
	left []string   // of its own
}

// Read reads on.
func (r *replay) Read(b []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.left) > 0 {
		if n == len(b) {
			return n, nil
		}
		m := copy(b[n:], r.left[0])
		n += m
		if r.left[0] = r.left[0][m:]; r.left[0] == "" {
			r.left[0] = "" // not the empty end of the text, which would keep it
			r.left = r.left[1:]
		}
	}
	r.left = nil
	return n, io.EOF
}

// WriteTo writes what is left.
func (r *replay) WriteTo(w io.Writer) (n int64, err error) {
	r.mu.Lock()
	left := r.left
	r.left = nil
	r.mu.Unlock()
	for i := range left {
		m, err := io.WriteString(w, left[i])
		left[i] = ""
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Close drops what is left.
func (r *replay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = nil
	return nil
}

// buffers are kept for further requests.
type buffers struct{ pool sync.Pool }

// take returns a buffer for relayed bytes.
func (b *buffers) take() *[relayBuffer]byte {
	if buf, ok := b.pool.Get().(*[relayBuffer]byte); ok {
		return buf
	}
	return new([relayBuffer]byte)
}

func (b *buffers) put(buf *[relayBuffer]byte) { b.pool.Put(buf) }
