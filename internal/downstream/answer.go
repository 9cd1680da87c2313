package downstream

import (
	"errors"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"gatewayd/internal/http1"
)

// answer has the handler answer a request and reports whether the connection can go
// on.
func (c *conn) answer(r *Request) bool {
	c.asked.want(time.Time{})
	c.given.want(time.Time{})
	c.begin(r)
	defer r.end(nil)
	c.body.begin(c, r)
	if r.Body = &c.body; r.Length == 0 {
		r.Body = http.NoBody
	}
	w := &c.response
	w.begin(c, r)
	if r.Header.Has("Expect") && r.Minor > 0 && !c.body.expected(r.Header.Values("Expect")) {
		w.closes = true
		return c.say(http.StatusExpectationFailed, "the only expectation that is known is 100-continue")
	}
	well := c.call(w, r) && w.finish()
	if c.hush(); !well {
		return false
	}
	if w.closes || !c.body.rest() {
		return c.linger()
	}
	if c.state.CompareAndSwap(active, idle) && !c.server.closing.Load() {
		return true
	}
	c.part()
	return false
}

// call calls the handler and reports whether it has returned. A panic ends the
// connection, as in net/http, and so does the end of the goroutine.
func (c *conn) call(w *response, r *Request) (well bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // as net/http
			c.server.o.Base.ErrorLog.Printf("panic serving %v: %v\n%s", r.Remote, p, debug.Stack())
		}
		if !well {
			w.breakOff()
		}
	}()
	c.server.o.Handler.Serve(w, r)
	return true
}

// refuse answers a request whose head cannot be read, if somebody is there to read
// the answer.
func (c *conn) refuse(err error) {
	status, why := http.StatusBadRequest, "the request cannot be read: "+strings.TrimPrefix(err.Error(), "http1: ")
	switch {
	case errors.Is(err, http1.ErrTooLarge):
		status, why = http.StatusRequestHeaderFieldsTooLarge, "the request's header fields are too large"
	case errors.Is(err, http1.ErrVersion):
		status, why = http.StatusHTTPVersionNotSupported, "HTTP/1.1 and HTTP/2 are known here"
	case errors.Is(err, http1.ErrCoding):
		status, why = http.StatusNotImplemented, "the only transfer coding that is known is chunked"
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, why = http.StatusRequestTimeout, "the request's header fields came too slowly"
	case !http1.Malformed(err): // the client has gone
		return
	}
	c.deny(status, why)
}

// deny answers what is no request, and ends the connection.
func (c *conn) deny(status int, why string) {
	c.response.begin(c, &Request{Request: http1.Request{Minor: 1, Close: true}})
	c.say(status, why)
}

// goOn tells the client to send the body.
func (c *conn) goOn() error {
	due := c.given.due
	if due.IsZero() {
		c.given.want(time.Now().Add(c.server.o.Base.ReadHeaderTimeout))
	}
	_, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	c.given.want(due)
	return err
}

// say answers a request that no handler gets, and ends the connection.
func (c *conn) say(status int, why string) bool {
	c.given.want(time.Now().Add(c.server.o.Base.ReadHeaderTimeout))
	c.server.o.Refuse(&c.response, status, why)
	return c.response.finish() && c.linger()
}
