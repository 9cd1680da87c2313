package downstream

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// encrypt puts TLS over the connection beneath, unless it stays plain.
func (c *conn) encrypt(how *tls.Config) {
	if how == nil {
		return
	}
	c.Conn = tls.Server(c.beneath, how)
	c.asked.exact, c.given.exact = true, true
	c.request.TLS = true
}

// shake makes the handshake, if there is to be one. It reports whether requests are
// served here: a client that has chosen HTTP/2 is handed over.
func (c *conn) shake() (ours, handed bool) {
	t, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true, false
	}
	_ = c.beneath.SetDeadline(time.Now().Add(c.server.o.Base.ReadHeaderTimeout))
	if err := t.Handshake(); err != nil {
		c.misunderstood(err)
		return false, false
	}
	_ = c.beneath.SetDeadline(time.Time{})
	if t.ConnectionState().NegotiatedProtocol != "h2" {
		return true, false
	}
	if handed = c.state.CompareAndSwap(idle, over); handed {
		c.server.rest.hand(t)
	}
	return false, handed
}

// misunderstood says why there is no TLS: to the client if it speaks plain HTTP, and to
// the log, unless the client has only looked whether somebody is there, or this server has
// closed the connection.
func (c *conn) misunderstood(err error) {
	var none tls.RecordHeaderError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
	case errors.As(err, &none) && none.Conn != nil && letters(none.RecordHeader[:3]):
		_ = c.beneath.SetDeadline(time.Time{})
		c.server.conn(c.beneath).deny(http.StatusBadRequest, "the request came without TLS, which is spoken here: use https")
	default:
		c.server.o.Base.ErrorLog.Printf("TLS handshake with %s: %v", c.request.Remote, err)
	}
}

// letters reports whether b may be the beginning of a method. A record of TLS has none
// there.
func letters(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < 'A' || r > 'Z' })
}
