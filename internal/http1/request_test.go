package http1

import (
	"strings"
	"testing"
)

// Targets of all four forms, and who the request is for (RFC 9112, 3.2).
func TestTargets(t *testing.T) {
	for _, c := range []struct{ line, hosts, path, query, host string }{
		{"GET / HTTP/1.1", "Host: g\r\n", "/", "", "g"},
		{"GET /a%20b?c=d&e HTTP/1.1", "Host: g:80\r\n", "/a b", "c=d&e", "g:80"},
		{"GET //a/../b HTTP/1.1", "Host: g\r\n", "//a/../b", "", "g"},
		{"GET /a#b HTTP/1.1", "Host: g\r\n", "/a#b", "", "g"},
		{"GET /\xc3\xa9 HTTP/1.1", "Host: g\r\n", "/\xc3\xa9", "", "g"},
		{"GET / HTTP/1.1", "Host:\r\n", "/", "", ""},
		{"GET / HTTP/1.0", "", "/", "", ""},
		{"GET / HTTP/1.1", "hOsT: [::1]:80\r\n", "/", "", "[::1]:80"},
		{"GET http://g/a?b HTTP/1.1", "Host: other\r\n", "/a", "b", "g"},
		{"GET http://g HTTP/1.1", "Host: g\r\n", "", "", "g"},
		{"GET http:///a HTTP/1.1", "Host: g\r\n", "/a", "", "g"},
		{"OPTIONS * HTTP/1.1", "Host: g\r\n", "*", "", "g"},
		{"CONNECT h:1 HTTP/1.1", "Host: other\r\n", "", "", "h:1"},
		{"CONNECT [::1]:1 HTTP/1.1", "Host: g\r\n", "", "", "[::1]:1"},
		{"CONNECT /path HTTP/1.1", "Host: g\r\n", "/path", "", "g"},
		{"!#$%&'*+-.^_`|~09aZ / HTTP/1.1", "Host: g\r\n", "/", "", "g"},
	} {
		var r Request
		if err := ParseRequest(&r, c.line+"\r\n"+c.hosts+"X: y\r\n\r\n"); err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		method, rest, _ := strings.Cut(c.line, " ")
		target, version, _ := strings.Cut(rest, " ")
		if r.Method != method || r.Target != target || r.Proto != version || r.Path != c.path || r.Query != c.query || r.Host != c.host {
			t.Errorf("%s: %s %q %s, %q ? %q for %q", c.line, r.Method, r.Target, r.Proto, r.Path, r.Query, r.Host)
		}
		if len(r.Header) != 1 || r.Header.Get("X") != "y" || r.Length != 0 {
			t.Errorf("%s: %v, %d bytes", c.line, r.Header, r.Length)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]struct {
		minor int
		err   error
	}{
		"HTTP/1.1": {1, nil}, "HTTP/1.0": {0, nil}, "HTTP/1.2": {1, nil}, "HTTP/1.9": {1, nil},
		"HTTP/2.0": {0, ErrVersion}, "HTTP/0.9": {0, ErrVersion}, "HTTP/3.1": {0, ErrVersion},
		"": {0, ErrStart}, "http/1.1": {0, ErrStart}, "HTTP/1": {0, ErrStart}, "HTTP/1.": {0, ErrStart}, "HTTP/1.10": {0, ErrStart}, "HTTP/11": {0, ErrStart},
		"HTTP/1,1": {0, ErrStart}, "HTTP/+.1": {0, ErrStart}, "HTTP/1.1 ": {0, ErrStart}, " HTTP/1.1": {0, ErrStart}, "HTTP/1.1\r": {0, ErrStart}, "HTTPS/1.1": {0, ErrStart}, "HTTP/a.b": {0, ErrStart},
	} {
		var r Request
		if err := ParseRequest(&r, "GET / "+version+"\r\nHost: g\r\n\r\n"); err != want.err || err == nil && (r.Minor != want.minor || r.Close != (want.minor == 0)) {
			t.Errorf("%q: 1.%d, close %v, %v", version, r.Minor, r.Close, err)
		}
	}
}

// What cannot be read, or can be read in two ways, is refused.
func TestMalformedRequests(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: g\r\n"
	for head, want := range map[string]error{
		"\r\n":                                                          ErrStart,
		"GET\r\n\r\n":                                                   ErrStart,
		"GET /\r\nHost: g\r\n\r\n":                                      ErrStart,
		" GET / HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"G(T / HTTP/1.1\r\nHost: g\r\n\r\n":                             ErrStart,
		"G\xffT / HTTP/1.1\r\nHost: g\r\n\r\n":                          ErrStart,
		"GET\t/ HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"GET  / HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"GET /  HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"GET / a HTTP/1.1\r\nHost: g\r\n\r\n":                           ErrStart,
		"GET /\ta HTTP/1.1\r\nHost: g\r\n\r\n":                          ErrStart,
		"GET /\x00 HTTP/1.1\r\nHost: g\r\n\r\n":                         ErrStart,
		"GET /\x7f HTTP/1.1\r\nHost: g\r\n\r\n":                         ErrStart,
		"GET /\r HTTP/1.1\r\nHost: g\r\n\r\n":                           ErrStart,
		"GET /%zz HTTP/1.1\r\nHost: g\r\n\r\n":                          ErrStart,
		"GET /% HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"GET a HTTP/1.1\r\nHost: g\r\n\r\n":                             ErrStart,
		"GET ?a HTTP/1.1\r\nHost: g\r\n\r\n":                            ErrStart,
		"CONNECT h/p HTTP/1.1\r\nHost: g\r\n\r\n":                       ErrStart,
		"CONNECT u@h HTTP/1.1\r\nHost: g\r\n\r\n":                       ErrStart,
		"CONNECT h:x HTTP/1.1\r\nHost: g\r\n\r\n":                       ErrStart,
		"CONNECT h?q HTTP/1.1\r\nHost: g\r\n\r\n":                       ErrStart,
		"GET / HTTP/1.1\r\n\r\n":                                        ErrHost,
		get + "Host: g\r\n\r\n":                                         ErrHost,
		"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n":                  ErrHost,
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n":                           ErrHost,
		"GET / HTTP/1.1\r\nHost: u@g\r\n\r\n":                           ErrHost,
		"GET / HTTP/1.1\r\nHost: g/p\r\n\r\n":                           ErrHost,
		"GET / HTTP/1.1\r\nHost: g#p\r\n\r\n":                           ErrHost,
		"GET / HTTP/1.1\r\nHost: g\\p\r\n\r\n":                          ErrHost,
		"GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n\r\n":                      ErrHost,
		"GET http://g/ HTTP/1.1\r\nHost: a b\r\n\r\n":                   ErrHost,
		"GET http://g/ HTTP/1.1\r\n\r\n":                                ErrHost,
		"GET http://\xc3\xa9/ HTTP/1.1\r\nHost: g\r\n\r\n":              ErrHost,
		"GET http://a<b/ HTTP/1.1\r\nHost: g\r\n\r\n":                   ErrHost,
		get + " x: y\r\n\r\n":                                           ErrField,
		get + "Content-Length: x\r\n\r\n":                               ErrFraming,
		get + "Content-Length: 1\r\ntransfer-encoding: chunked\r\n\r\n": ErrFraming,
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n":         ErrFraming,
		get + "Transfer-Encoding: gzip, chunked\r\n\r\n":                ErrCoding,
		get + "Transfer-Encoding:\r\n\r\n":                              ErrCoding,
		get + "Transfer-Encoding: \x0bchunked\r\n\r\n":                  ErrField,
		get + "Transfer-Encoding : chunked\r\n\r\n":                     ErrField,
		"PRI * HTTP/2.0\r\n\r\n":                                        ErrVersion,
	} {
		var r Request
		if err := ParseRequest(&r, head); err != want {
			t.Errorf("%q: %v, want %v", head, err, want)
		}
	}
}

// A body is chunked, has a length, or is none.
func TestBodiesOfRequests(t *testing.T) {
	for fields, want := range map[string]struct {
		length  int64
		chunked bool
	}{
		"": {0, false}, "Content-Length: 0\r\n": {0, false}, "Content-Length: 7\r\n": {7, false}, "Content-Length: 7\r\nContent-Length: 7\r\n": {7, false},
		"Transfer-Encoding: Chunked\r\n": {Unknown, true},
	} {
		for _, method := range []string{"GET", "POST", "HEAD"} {
			var r Request
			err := ParseRequest(&r, method+" / HTTP/1.1\r\nHost: g\r\n"+fields+"\r\n")
			if err != nil || r.Length != want.length || (r.Length == Unknown) != want.chunked {
				t.Errorf("%s %q: %d, %v", method, fields, r.Length, err)
			}
			if r.Header.Has("Transfer-Encoding") || len(r.Header.Values("Content-Length")) > 1 {
				t.Errorf("%s %q: %v", method, fields, r.Header)
			}
		}
	}
}
