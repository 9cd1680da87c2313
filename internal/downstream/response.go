package downstream

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"gatewayd/internal/http1"
)

// response is the answer to a request.
type response struct {
	c       *conn
	header  http1.Header
	minor   int
	silent  bool // to a HEAD request
	headed  bool // the head is in out, or written
	chunked bool
	left    int64 // bytes that the body may still have; unless chunked or untilEnd
	closes  bool  // the connection ends with this answer
	out     *[]byte
	err     error // of writing
}

// begin begins an answer to a request.
func (w *response) begin(c *conn, r *Request) {
	*w = response{c: c, header: w.header, minor: r.Minor, silent: r.Method == http.MethodHead, closes: r.Close}
}

// Header returns the header fields.
func (w *response) Header() *http1.Header { return &w.header }

// framing reports whether WriteHeader writes the header field itself.
func framing(name string) bool {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Connection":
		return true
	}
	return false
}

// untilEnd is what is left of a body that ends with the connection.
const untilEnd = 1 << 62

var (
	errStatus = errors.New("downstream: the answer has a status of more than three digits")
	errLength = errors.New("downstream: the answer has a Content-Length that is no number")
)

// WriteHeader begins the answer. A status or a Content-Length that cannot be written is an
// error of what is written behind it, and ends the connection.
func (w *response) WriteHeader(status int) {
	if w.headed || status < http.StatusOK {
		return
	}
	if w.headed = true; status > 999 {
		w.err = errStatus
	}
	w.closes = w.closes || w.c.body.last() || !http1.KeepsAlive(w.header, 1) || w.c.server.closing.Load()
	b := append(w.buffer(), "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(append(append(b, ' '), http.StatusText(status)...), "\r\n"...)
	if !w.header.Has("Date") { // a relayed answer has its own (RFC 9110, 6.6.1)
		b = append(append(append(b, "Date: "...), date()...), "\r\n"...)
	}
	b = w.header.Append(b, framing)
	b = w.frame(b, status)
	switch {
	case w.closes:
		b = append(b, "Connection: close\r\n"...)
	case w.minor == 0:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	*w.out = append(b, "\r\n"...)
}

// frame appends the field that says how long the body is.
func (w *response) frame(b []byte, status int) []byte {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		w.silent = true
		return b
	}
	if length := w.header.Get("Content-Length"); length != "" {
		n, err := strconv.ParseUint(length, 10, 63)
		if err != nil {
			w.err = errLength
		}
		w.left = int64(n)
		return append(strconv.AppendUint(append(b, "Content-Length: "...), n, 10), "\r\n"...)
	}
	if w.minor == 0 {
		w.closes, w.left = true, untilEnd
		return b
	}
	w.chunked = true
	return append(b, "Transfer-Encoding: chunked\r\n"...)
}

// SetReadDeadline bounds reading.
func (w *response) SetReadDeadline(t time.Time) error {
	w.c.asked.want(t)
	return nil
}

// SetWriteDeadline bounds writing.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.c.given.want(t)
	return nil
}
