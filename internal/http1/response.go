package http1

import "strings"

// Response is the head of an answer. It must not be copied: the header may have its room
// in it.
type Response struct {
	StatusCode int
	Status     string // with the code
	Proto      string
	Minor      int    // of the version, HTTP/1.Minor
	Header     Header // all but Transfer-Encoding, if that is chunked
	Length     int64  // of the body in bytes; Unknown: it is chunked, or not told
	Chunked    bool
	Close      bool // the connection ends behind it

	room [usualFields]Field
}

// usualFields is for how many fields there is room at once.
const usualFields = 16

// ParseResponse reads the head of an answer into r, which is zero. Whether there is a
// body, and where one ends whose length is not told, depends on the request, too (RFC
// 9112, 6.3).
func ParseResponse(r *Response, head string) error {
	line, lines := Cut(head)
	version, status, _ := strings.Cut(line, " ")
	minor, err := minorOf(version)
	if err != nil || len(status) < 3 || len(status) > 3 && status[3] != ' ' || !isText(status) {
		return ErrStart
	}
	code, err := decimal(status[:3])
	if err != nil || code < 100 {
		return ErrStart
	}
	r.StatusCode, r.Status, r.Proto, r.Minor = int(code), status, version, minor
	r.Header = r.room[:0]
	if err = r.Header.ReadFields(lines); err != nil {
		return err
	}
	if r.Header.Has("Transfer-Encoding") { // it counts more (RFC 9112, 6.3)
		r.Header.Del("Content-Length")
	}
	if r.Length, r.Chunked, err = Framing(&r.Header, minor); err != nil {
		return err
	}
	if r.Chunked {
		r.Header.Del("Transfer-Encoding")
	}
	r.Close = !KeepsAlive(r.Header, minor)
	return nil
}
