package http1

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Unknown is the length of a body that no field tells.
const Unknown = -1

// Framing returns how long the body behind a head is, in bytes: Unknown if it is
// chunked, or if nothing is said. A head that says it twice, in different words or in
// words that are not clear is an error (RFC 9112, 6.1 and 6.3); a length that is
// repeated stays in the head once. minor is that of the version, HTTP/1.minor.
func Framing(h http.Header, minor int) (length int64, chunked bool, err error) {
	coding, lengths := h["Transfer-Encoding"], h["Content-Length"]
	if len(coding) > 0 {
		switch {
		case len(lengths) > 0 || minor == 0:
			return 0, false, ErrFraming
		case len(coding) > 1 || !isWord(coding[0], "chunked"):
			return 0, false, ErrCoding
		}
		return Unknown, true, nil
	}
	if len(lengths) == 0 {
		return Unknown, false, nil
	}
	for _, other := range lengths[1:] {
		if other != lengths[0] {
			return 0, false, ErrFraming
		}
	}
	if length, err = decimal(lengths[0]); err != nil {
		return 0, false, ErrFraming
	}
	if len(lengths) > 1 {
		h["Content-Length"] = lengths[:1]
	}
	return length, false, nil
}

// decimal reads digits and nothing else.
func decimal(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// isWord reports whether s is a word of ASCII, in capitals or not. Other letters that
// fold to those of the word make s longer.
func isWord(s, word string) bool { return len(s) == len(word) && strings.EqualFold(s, word) }

// KeepsAlive reports whether the sender of a head keeps the connection (RFC 9112,
// 9.3).
func KeepsAlive(h http.Header, minor int) bool {
	keeps := minor >= 1
	for _, v := range h["Connection"] {
		if v == "keep-alive" { // the most usual one
			keeps = true
			continue
		}
		for option := range strings.SplitSeq(v, ",") {
			switch option = strings.Trim(option, " \t"); {
			case isWord(option, "close"):
				return false
			case isWord(option, "keep-alive"):
				keeps = true
			}
		}
	}
	return keeps
}

// Append appends the lines of a header's fields to b in the order of their names, but
// for those that skip is true for, and those whose name is no token. A value cannot end
// its line: its control characters become spaces.
func Append(b []byte, h http.Header, skip func(name string) bool) []byte {
	var room [usualFields]string
	names := room[:0]
	for name := range h {
		if !skip(name) && isToken(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			b = append(b, name...)
			b = append(b, ": "...)
			b = appendText(b, v)
			b = append(b, "\r\n"...)
		}
	}
	return b
}

func appendText(b []byte, v string) []byte {
	from := len(b)
	b = append(b, v...)
	if isText(v) {
		return b
	}
	for i, c := range b[from:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[from+i] = ' '
		}
	}
	return b
}
