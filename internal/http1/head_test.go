package http1

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// ways are the ways in which the bytes of a message can come.
var ways = map[string]func(text string) *bufio.Reader{
	"at once":        func(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) },
	"byte by byte":   func(s string) *bufio.Reader { return bufio.NewReader(iotest.OneByteReader(strings.NewReader(s))) },
	"a small buffer": func(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), 16) },
	"with the end":   func(s string) *bufio.Reader { return bufio.NewReader(iotest.DataErrReader(strings.NewReader(s))) },
}

// A head ends with its first blank line, however it comes, and takes no byte more.
func TestReadHead(t *testing.T) {
	const limit = 64
	long := strings.Repeat("x", limit-4) + "\r\n\r\n"
	for name, c := range map[string]struct {
		send, head string
		err        error
	}{
		"CRLF":                        {"a\r\nb: c\r\n\r\nrest", "a\r\nb: c\r\n\r\n", nil},
		"LF":                          {"a\nb: c\n\nrest", "a\nb: c\n\n", nil},
		"LF and CRLF":                 {"a\r\nb: c\n\r\n\r\n", "a\r\nb: c\n\r\n", nil},
		"CR is no line":               {"a\r\r\n\r\n", "a\r\r\n\r\n", nil},
		"CR CRLF is no blank line":    {"a\r\n\r\r\n\r\n", "a\r\n\r\r\n\r\n", nil},
		"a space is no blank line":    {"a\r\n \r\n\r\n", "a\r\n \r\n\r\n", nil},
		"nothing but a blank line":    {"\r\nrest", "\r\n", nil},
		"longer than a small buffer":  {"a: 0123456789012345678901234567890123456789\r\n\r\nrest", "a: 0123456789012345678901234567890123456789\r\n\r\n", nil},
		"as long as it may be":        {long + "rest", long, nil},
		"longer":                      {"x" + long, "", ErrTooLarge},
		"much longer, without an end": {strings.Repeat("a: b\r\n", 1000), "", ErrTooLarge},
		"one line, without an end":    {strings.Repeat("a", 1000), "", ErrTooLarge},
		"nothing":                     {"", "", io.EOF},
		"a part of a line":            {"GET /", "", io.ErrUnexpectedEOF},
		"no blank line":               {"a\r\nb: c\r\n", "", io.ErrUnexpectedEOF},
		"half a blank line":           {"a\r\nb: c\r\n\r", "", io.ErrUnexpectedEOF},
	} {
		for way, reader := range ways {
			in := reader(c.send)
			if way == "at once" {
				in.Peek(1) // what has come is there
			}
			head, err := ReadHead(in, limit)
			if head != c.head || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: %q, %v", name, way, head, err)
			}
			if rest, _ := io.ReadAll(in); err == nil && string(rest) != c.send[len(head):] {
				t.Errorf("%s, %s: %q is left", name, way, rest)
			}
		}
	}
}

// A reader's own error is passed on.
func TestReadHeadFails(t *testing.T) {
	broken := errors.New("broken")
	for _, begin := range []string{"", "GET / HTT"} {
		in := bufio.NewReader(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(broken)))
		if head, err := ReadHead(in, 1<<10); err != broken || head != "" {
			t.Errorf("%q: %q, %v", begin, head, err)
		}
	}
}
