package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// What can be wrong with a head.
var (
	ErrTooLarge = errors.New("http1: the head is larger than it may be")
	ErrStart    = errors.New("http1: malformed first line")
	ErrVersion  = errors.New("http1: another version of HTTP than 1")
	ErrField    = errors.New("http1: malformed header field")
	ErrHost     = errors.New("http1: there must be one Host field, with a host in it")
	ErrFraming  = errors.New("http1: Transfer-Encoding and Content-Length are malformed or contradict each other")
	ErrCoding   = errors.New("http1: the only known transfer coding is chunked")
)

// Malformed reports whether the error says what is wrong with a head.
func Malformed(err error) bool {
	return slices.ContainsFunc([]error{ErrTooLarge, ErrStart, ErrVersion, ErrField, ErrHost, ErrFraming, ErrCoding}, func(e error) bool { return errors.Is(err, e) })
}

// ReadHead reads a head of at most limit bytes, up to and with its blank line, and
// returns its lines. Behind an empty reader's end the error is io.EOF, within a head
// io.ErrUnexpectedEOF.
func ReadHead(r *bufio.Reader, limit int) (string, error) {
	if have, _ := r.Peek(r.Buffered()); len(have) > 0 {
		if n := blank(have); n > 0 && n <= limit {
			head := string(have[:n])
			_, err := r.Discard(n)
			return head, err
		}
	}
	return readLines(r, limit)
}

// readLines is ReadHead for a head that has not come whole yet.
func readLines(r *bufio.Reader, limit int) (string, error) {
	var head []byte
	for line := 0; ; { // begin of the last line
		part, err := r.ReadSlice('\n')
		if head = append(head, part...); len(head) > limit {
			return "", ErrTooLarge
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(head) > 0:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case empty(head[line:]):
			return string(head), nil
		}
		line = len(head)
	}
}

// blank returns where the first blank line ends, 0 if there is none.
func blank(b []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			return 0
		}
		if at += n; empty(b[at-n : at]) {
			return at
		}
	}
}

// empty reports whether a line, with its end, says nothing.
func empty(line []byte) bool {
	return len(line) == 1 || len(line) == 2 && line[0] == '\r'
}

// Cut returns the first line of a head without its end, and the others.
func Cut(head string) (line, rest string) {
	line, rest, _ = strings.Cut(head, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// isToken reports whether s is a token (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !tokens[s[i]] {
			return false
		}
	}
	return s != ""
}

var tokens = bytesOf(letters + digits + "!#$%&'*+-.^_`|~")

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// bytesOf returns the set of a text's bytes.
func bytesOf(text string) (set [256]bool) {
	for i := range len(text) {
		set[text[i]] = true
	}
	return set
}

// isText reports whether s can be a field's value (RFC 9110, 5.5): no control
// character but the tab.
func isText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
