package http1

import (
	"net/http"
	"net/url"
	"strings"
)

// ParseRequest reads the head of a request into r, all but its body. The header of r is
// used if there is one, which must have no fields. The Host field is taken out of it.
func ParseRequest(r *http.Request, head string) error {
	line, lines := Cut(head)
	var rest string
	var err error
	r.Method, rest, _ = strings.Cut(line, " ")
	r.RequestURI, r.Proto, _ = strings.Cut(rest, " ")
	if !isToken(r.Method) {
		return ErrStart
	}
	if r.ProtoMinor, err = minorOf(r.Proto); err != nil {
		return err
	}
	r.ProtoMajor = 1
	if r.URL, err = parseTarget(r.Method, r.RequestURI); err != nil {
		return ErrStart
	}
	if r.Header, err = addFields(r.Header, lines); err != nil {
		return err
	}
	if err := host(r); err != nil {
		return err
	}
	var chunked bool
	if r.ContentLength, chunked, err = Framing(r.Header, r.ProtoMinor); err != nil {
		return err
	}
	switch {
	case chunked:
		r.TransferEncoding = []string{"chunked"}
		delete(r.Header, "Transfer-Encoding")
	case r.ContentLength == Unknown:
		r.ContentLength = 0 // nothing said is no body (RFC 9112, 6.3)
	}
	r.Close = !KeepsAlive(r.Header, r.ProtoMinor)
	return nil
}

// host finds out whom the request is for (RFC 9112, 3.2).
func host(r *http.Request) error {
	hosts := r.Header["Host"]
	delete(r.Header, "Host")
	switch {
	case len(hosts) > 1, len(hosts) == 0 && r.ProtoMinor > 0, len(hosts) == 1 && !isHost(hosts[0]), !isHost(r.URL.Host):
		return ErrHost
	case r.URL.Host != "": // it counts more
		r.Host = r.URL.Host
	case len(hosts) == 1:
		r.Host = hosts[0]
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

// parseTarget reads the target of a request (RFC 9112, 3.2).
func parseTarget(method, target string) (*url.URL, error) {
	if !isTarget(target) {
		return nil, ErrStart
	}
	if method == http.MethodConnect && !strings.HasPrefix(target, "/") {
		u, err := url.ParseRequestURI("http://" + target)
		if err != nil || u.Host != target {
			return nil, ErrStart
		}
		u.Scheme = ""
		return u, nil
	}
	if isPath(target) {
		return &url.URL{Path: target}, nil
	}
	return url.ParseRequestURI(target)
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
