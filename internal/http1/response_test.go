package http1

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestParseResponse(t *testing.T) {
	for head, want := range map[string]struct {
		code    int
		status  string
		length  int64
		chunked bool
		closes  bool
	}{
		"HTTP/1.1 200 OK\r\n\r\n":                                                  {200, "200 OK", Unknown, false, false},
		"HTTP/1.1 200\r\n\r\n":                                                     {200, "200", Unknown, false, false},
		"HTTP/1.1 200 \r\n\r\n":                                                    {200, "200 ", Unknown, false, false},
		"HTTP/1.1 404 Not \xc3\xa9 Found\r\n\r\n":                                  {404, "404 Not \xc3\xa9 Found", Unknown, false, false},
		"HTTP/1.1 100 Continue\r\n\r\n":                                            {100, "100 Continue", Unknown, false, false},
		"HTTP/1.1 204 No Content\r\n\r\n":                                          {204, "204 No Content", Unknown, false, false},
		"HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n":                              {304, "304 X", 9, false, false},
		"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n":                              {999, "999 X", 0, false, false},
		"HTTP/1.0 200 OK\r\n\r\n":                                                  {200, "200 OK", Unknown, false, true},
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\n":                          {200, "200 OK", Unknown, false, false},
		"HTTP/1.1 200 OK\nConnection: close\n\n":                                   {200, "200 OK", Unknown, false, true},
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":                    {200, "200 OK", Unknown, true, false},
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\n": {200, "200 OK", Unknown, true, false},
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n":        {200, "200 OK", 5, false, false},
	} {
		var r Response
		if err := ParseResponse(&r, head); err != nil {
			t.Errorf("%q: %v", head, err)
			continue
		}
		if r.StatusCode != want.code || r.Status != want.status || r.Length != want.length || r.Chunked != want.chunked || r.Close != want.closes {
			t.Errorf("%q: %d %q, %d bytes, chunked %v, close %v", head, r.StatusCode, r.Status, r.Length, r.Chunked, r.Close)
		}
		if r.Header.Has("Transfer-Encoding") || len(r.Header.Values("Content-Length")) > 1 || want.chunked && r.Header.Has("Content-Length") {
			t.Errorf("%q: %v", head, r.Header)
		}
	}
}

func TestMalformedResponses(t *testing.T) {
	const fine = "HTTP/1.1 200 OK\r\n"
	for head, want := range map[string]error{
		"\r\n":                        ErrStart,
		"HTTP/1.1\r\n\r\n":            ErrStart,
		"HTTP/1.1 \r\n\r\n":           ErrStart,
		"HTTP/1.1 20\r\n\r\n":         ErrStart,
		"HTTP/1.1 2000\r\n\r\n":       ErrStart,
		"HTTP/1.1 20x\r\n\r\n":        ErrStart,
		"HTTP/1.1 +20 OK\r\n\r\n":     ErrStart,
		"HTTP/1.1 099 OK\r\n\r\n":     ErrStart,
		"HTTP/1.1  200 OK\r\n\r\n":    ErrStart,
		"HTTP/1.1\t200 OK\r\n\r\n":    ErrStart,
		"HTTP/1.1 200\tOK\r\n\r\n":    ErrStart,
		"HTTP/1.1 200 O\rK\r\n\r\n":   ErrStart,
		"HTTP/1.1 200 O\x00K\r\n\r\n": ErrStart,
		"HTTP/2.0 200 OK\r\n\r\n":     ErrStart,
		"ICY 200 OK\r\n\r\n":          ErrStart,
		" HTTP/1.1 200 OK\r\n\r\n":    ErrStart,
		fine + "a\r\n\r\n":            ErrField,
		fine + "a: b\r\n c\r\n\r\n":   ErrField,
		fine + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n": ErrFraming,
		fine + "Content-Length: 5, 5\r\n\r\n":                   ErrFraming,
		fine + "Transfer-Encoding: gzip\r\n\r\n":                ErrCoding,
		fine + "Transfer-Encoding: gzip, chunked\r\n\r\n":       ErrCoding,
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n": ErrFraming,
	} {
		var r Response
		if err := ParseResponse(&r, head); err != want {
			t.Errorf("%q: %v, %v, want %v", head, r.Header, err, want)
		}
	}
}

// An answer has all of its fields in their order, also more than there is room for at once.
func TestFieldsOfResponses(t *testing.T) {
	for _, n := range []int{0, 1, usualFields - 1, usualFields, usualFields + 1, 5 * usualFields} {
		var lines strings.Builder
		var want Header
		for i := range n {
			want.Add("X-"+strconv.Itoa(i%7), strconv.Itoa(i))
			lines.WriteString(want[i].Name + ": " + want[i].Value + "\r\n")
		}
		var r Response
		if err := ParseResponse(&r, "HTTP/1.1 200 OK\r\n"+lines.String()+"\r\n"); err != nil || !slices.Equal(r.Header, want) {
			t.Errorf("%q, %v, want %q", r.Header, err, want)
		}
	}
}
