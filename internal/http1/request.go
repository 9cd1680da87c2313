package http1

import (
	"net/http"
	"net/url"
	"strings"
)

// Request is the head of a request.
type Request struct {
	Method string
	Target string // as it stands in the first line
	Path   string // of the target, decoded
	Query  string // of the target, as it stands there
	Host   string // whom it is for, perhaps with a port
	Proto  string
	Minor  int    // of the version, HTTP/1.Minor
	Header Header // all but Host and Transfer-Encoding
	Length int64  // of the body in bytes, which may be none; Unknown: its end shows by its framing
	Close  bool   // no other request follows
}

// ParseRequest reads the head of a request into r. The room of the header in r is used
// again.
func ParseRequest(r *Request, head string) error {
	line, lines := Cut(head)
	*r = Request{Header: r.Header[:0]}
	var rest string
	var err error
	r.Method, rest, _ = strings.Cut(line, " ")
	r.Target, r.Proto, _ = strings.Cut(rest, " ")
	if !isToken(r.Method) {
		return ErrStart
	}
	if r.Minor, err = minorOf(r.Proto); err != nil {
		return err
	}
	host, err := r.parseTarget()
	if err != nil {
		return ErrStart
	}
	if err = r.Header.ReadFields(lines); err != nil {
		return err
	}
	if err := r.whom(host); err != nil {
		return err
	}
	var chunked bool
	if r.Length, chunked, err = Framing(&r.Header, r.Minor); err != nil {
		return err
	}
	switch {
	case chunked:
		r.Header.Del("Transfer-Encoding")
	case r.Length == Unknown:
		r.Length = 0 // nothing said is no body (RFC 9112, 6.3)
	}
	r.Close = !KeepsAlive(r.Header, r.Minor)
	return nil
}

// whom finds out whom the request is for: the target's host, if it has one, counts more
// (RFC 9112, 3.2).
func (r *Request) whom(host string) error {
	said := 0
	for _, f := range r.Header {
		if f.Name == "Host" {
			r.Host = f.Value
			said++
		}
	}
	if said > 1 || said == 0 && r.Minor > 0 || !isHost(r.Host) || !isHost(host) {
		return ErrHost
	}
	r.Header.Del("Host")
	if host != "" {
		r.Host = host
	}
	return nil
}

// minorOf reads a version. Later minor ones are read as 1 (RFC 9110, 2.5).
func minorOf(version string) (int, error) {
	digits, ok := strings.CutPrefix(version, "HTTP/")
	if !ok || len(digits) != 3 || digits[1] != '.' || !isDigit(digits[0]) || !isDigit(digits[2]) {
		return 0, ErrStart
	}
	if digits[0] != '1' {
		return 0, ErrVersion
	}
	return min(int(digits[2]-'0'), 1), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseTarget reads the target of a request (RFC 9112, 3.2) and returns the host in it.
func (r *Request) parseTarget() (host string, err error) {
	target := r.Target
	if !isTarget(target) {
		return "", ErrStart
	}
	if r.Method == http.MethodConnect && !strings.HasPrefix(target, "/") {
		u, err := url.ParseRequestURI("http://" + target)
		if err != nil || u.Host != target {
			return "", ErrStart
		}
		return u.Host, nil
	}
	if isPath(target) {
		r.Path = target
		return "", nil
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return "", err
	}
	r.Path, r.Query = u.Path, u.RawQuery
	return u.Host, nil
}

// isPath reports whether the target is a path that says what it is, as most are.
func isPath(s string) bool {
	for i := range len(s) {
		if !paths[s[i]] {
			return false
		}
	}
	return s[0] == '/'
}

var paths = bytesOf(letters + digits + "/-._")

// isTarget reports whether no byte of the target ends it for some readers.
func isTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}

// isHost reports whether s can be a host with or without a port (RFC 3986, 3.2.2 and
// 3.2.3). It may be empty.
func isHost(s string) bool {
	for i := range len(s) {
		if !hosts[s[i]] {
			return false
		}
	}
	return true
}

var hosts = bytesOf(letters + digits + "-._~!$&'()*+,;=%:[]")
