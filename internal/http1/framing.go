package http1

import (
	"strconv"
	"strings"
)

// Unknown is the length of a body that no field tells.
const Unknown = -1

// Framing returns how long the body behind a head is, in bytes: Unknown if it is
// chunked, or if nothing is said. A head that says it twice, in different words or in
// words that are not clear is an error (RFC 9112, 6.1 and 6.3); a length that is
// repeated stays in the head once. minor is that of the version, HTTP/1.minor.
func Framing(h *Header, minor int) (length int64, chunked bool, err error) {
	var coding, said string
	codings, lengths := 0, 0
	for _, f := range *h {
		switch f.Name {
		case "Transfer-Encoding":
			coding = f.Value
			codings++
		case "Content-Length":
			if lengths++; lengths > 1 && f.Value != said {
				err = ErrFraming
			}
			said = f.Value
		}
	}
	switch {
	case codings > 0 && (lengths > 0 || minor == 0):
		return 0, false, ErrFraming
	case codings > 1, codings == 1 && !isWord(coding, "chunked"):
		return 0, false, ErrCoding
	case codings == 1:
		return Unknown, true, nil
	case lengths == 0:
		return Unknown, false, nil
	case err != nil:
		return 0, false, err
	}
	if length, err = decimal(said); err != nil {
		return 0, false, ErrFraming
	}
	if lengths > 1 {
		h.Set("Content-Length", said)
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
func KeepsAlive(h Header, minor int) bool {
	keeps := minor >= 1
	for _, f := range h {
		switch {
		case f.Name != "Connection":
			continue
		case f.Value == "keep-alive": // the most usual one
			keeps = true
			continue
		}
		for option := range strings.SplitSeq(f.Value, ",") {
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
