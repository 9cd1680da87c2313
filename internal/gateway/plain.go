package gateway

import (
	"compress/gzip"
	"io"
	"strings"

	"gatewayd/internal/http1"
	"gatewayd/internal/upstream"
)

// plain undoes a worker's gzip: the gateway asked for none, reads usage in the
// answer, and does not know what the client can read. Other encodings pass as
// they are, unread.
func plain(resp *upstream.Response) {
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Body = &unzipped{from: resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
}

// unzipped reads a gzipped body. It begins with the first Read: the worker may
// send the head alone.
type unzipped struct {
	from io.ReadCloser
	zip  *gzip.Reader
}

// Read returns what the worker has flushed so far.
func (u *unzipped) Read(b []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			return 0, err
		}
	}
	return u.zip.Read(b)
}

// Close closes the body.
func (u *unzipped) Close() error { return u.from.Close() }

// readable reports whether the gateway can read the answer's bytes.
func readable(h http1.Header) bool {
	e := h.Get("Content-Encoding")
	return e == "" || strings.EqualFold(e, "identity")
}
