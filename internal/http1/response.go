package http1

import (
	"net/http"
	"strings"
)

// ParseResponse reads the head of an answer. Its body and request are not set. A
// length that is not told is Unknown: whether there is a body, and where it ends,
// depends on the request, too (RFC 9112, 6.3).
func ParseResponse(head string) (*http.Response, error) {
	line, lines := Cut(head)
	version, status, _ := strings.Cut(line, " ")
	minor, err := minorOf(version)
	if err != nil || len(status) < 3 || len(status) > 3 && status[3] != ' ' || !isText(status) {
		return nil, ErrStart
	}
	code, err := decimal(status[:3])
	if err != nil || code < 100 {
		return nil, ErrStart
	}
	r := &http.Response{Status: status, StatusCode: int(code), Proto: version, ProtoMajor: 1, ProtoMinor: minor}
	if r.Header, err = Fields(lines); err != nil {
		return nil, err
	}
	if len(r.Header["Transfer-Encoding"]) > 0 { // it counts more (RFC 9112, 6.3)
		delete(r.Header, "Content-Length")
	}
	var chunked bool
	if r.ContentLength, chunked, err = Framing(r.Header, minor); err != nil {
		return nil, err
	}
	if chunked {
		r.TransferEncoding = []string{"chunked"}
		delete(r.Header, "Transfer-Encoding")
	}
	r.Close = !KeepsAlive(r.Header, minor)
	return r, nil
}
