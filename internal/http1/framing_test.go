package http1

import (
	"net/http"
	"slices"
	"testing"
)

// Whatever a head says of the body, in all combinations (RFC 9112, 6.1 to 6.3).
func TestFraming(t *testing.T) {
	codings := map[string][]string{
		"none": nil, "chunked": {"chunked"}, "Chunked": {"ChUnKeD"},
		"other": {"gzip"}, "two": {"gzip, chunked"}, "twice": {"chunked", "chunked"}, "list": {"chunked, chunked"}, "identity": {"identity"}, "empty": {""},
		"comma": {"chunked,"}, "parameter": {"chunked;q=1"}, "tab": {"chunked\t"}, "Kelvin": {"chun\u212aed"}, "quoted": {`"chunked"`}, "prefix": {"xchunked"},
	}
	lengths := map[string]struct {
		values []string
		n      int64
		bad    bool
	}{
		"none": {nil, Unknown, false}, "zero": {[]string{"0"}, 0, false}, "some": {[]string{"17"}, 17, false}, "zeros": {[]string{"0017"}, 17, false},
		"largest": {[]string{"9223372036854775807"}, 1<<63 - 1, false}, "same": {[]string{"5", "5", "5"}, 5, false},
		"larger": {[]string{"9223372036854775808"}, 0, true}, "other": {[]string{"5", "6"}, 0, true}, "other words": {[]string{"5", "05"}, 0, true},
		"other first": {[]string{"6", "5", "5"}, 0, true}, "other between": {[]string{"5", "6", "5"}, 0, true},
		"empty": {[]string{""}, 0, true}, "one empty": {[]string{"5", ""}, 0, true}, "list": {[]string{"5, 5"}, 0, true}, "plus": {[]string{"+5"}, 0, true}, "minus": {[]string{"-5"}, 0, true},
		"minus zero": {[]string{"-0"}, 0, true}, "hexadecimal": {[]string{"0x5"}, 0, true}, "letters": {[]string{"5a"}, 0, true}, "underscore": {[]string{"1_0"}, 0, true},
		"fraction": {[]string{"5.0"}, 0, true}, "exponent": {[]string{"1e3"}, 0, true}, "space": {[]string{"1 0"}, 0, true}, "other digits": {[]string{"\u0665"}, 0, true},
	}
	for coding, codings := range codings {
		for length, l := range lengths {
			for minor := range 2 {
				h := HeaderOf(http.Header{"Transfer-Encoding": codings, "Content-Length": l.values})
				var want error
				n, isChunked := l.n, false
				switch {
				case codings != nil && (l.values != nil || minor == 0):
					want = ErrFraming
				case codings != nil && coding != "chunked" && coding != "Chunked":
					want = ErrCoding
				case codings != nil:
					n, isChunked = Unknown, true
				case l.bad:
					want = ErrFraming
				}
				if want != nil {
					n = 0
				}
				got, chunked, err := Framing(&h, minor)
				if got != n || chunked != isChunked || err != want {
					t.Errorf("coding %s, length %s, HTTP/1.%d: %d, %v, %v; want %d, %v, %v", coding, length, minor, got, chunked, err, n, isChunked, want)
				}
				if err == nil && !chunked && l.values != nil && !slices.Equal(h, Header{{"Content-Length", l.values[0]}}) {
					t.Errorf("length %s: %q is left", length, h)
				}
			}
		}
	}
}

func TestKeepsAlive(t *testing.T) {
	for _, c := range []struct {
		values   []string
		old, new bool // HTTP/1.0, HTTP/1.1
	}{
		{nil, false, true},
		{[]string{""}, false, true},
		{[]string{"keep-alive"}, true, true},
		{[]string{"Keep-Alive"}, true, true},
		{[]string{"x,\tkeep-ALIVE , y"}, true, true},
		{[]string{"close"}, false, false},
		{[]string{"CLOSE"}, false, false},
		{[]string{"x, close"}, false, false},
		{[]string{"x", "y,close ,z"}, false, false},
		{[]string{"keep-alive", "close"}, false, false},
		{[]string{"close", "keep-alive"}, false, false},
		{[]string{"keep-alive, close"}, false, false},
		{[]string{"closed"}, false, true},
		{[]string{"x close"}, false, true},
		{[]string{"\u212aeep-alive"}, false, true},
		{[]string{"clo\u017fe"}, false, true},
		{[]string{"upgrade"}, false, true},
	} {
		h := HeaderOf(http.Header{"Connection": c.values})
		if old, now := KeepsAlive(h, 0), KeepsAlive(h, 1); old != c.old || now != c.new {
			t.Errorf("%q: HTTP/1.0 %v, HTTP/1.1 %v", c.values, old, now)
		}
	}
}
