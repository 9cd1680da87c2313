package http1

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A body is read to its end, however it comes, and not a byte further; behind its end
// or its fault Read says the same again.
func TestBody(t *testing.T) {
	anError := errors.New("any error")
	for name, c := range map[string]struct {
		send    string
		length  int64
		chunked bool
		body    string
		left    string
		err     error
	}{
		"a length":               {"hello, world", 5, false, "hello", ", world", nil},
		"no length":              {"hello", 0, false, "", "hello", nil},
		"too short":              {"hell", 5, false, "hell", "", io.ErrUnexpectedEOF},
		"nothing of it":          {"", 5, false, "", "", io.ErrUnexpectedEOF},
		"until the end":          {"hello", Unknown, false, "hello", "", nil},
		"nothing until the end":  {"", Unknown, false, "", "", nil},
		"chunks":                 {"5\r\nhello\r\n2\r\n, \r\n0\r\n\r\nrest", Unknown, true, "hello, ", "rest", nil},
		"no chunk but the last":  {"0\r\n\r\nrest", Unknown, true, "", "rest", nil},
		"zeros":                  {"005\r\nhello\r\n000\r\n\r\nrest", Unknown, true, "hello", "rest", nil},
		"extensions":             {"5;a=b; c=\"d\"\r\nhello\r\n0;e\r\n\r\nrest", Unknown, true, "hello", "rest", nil},
		"trailers":               {"5\r\nhello\r\n0\r\na: b\r\nContent-Length: 3\r\n\r\nrest", Unknown, true, "hello", "rest", nil},
		"malformed trailers":     {"5\r\nhello\r\n0\r\na b\r\n\r\nrest", Unknown, true, "hello", "", ErrField},
		"LF behind the last":     {"5\r\nhello\r\n0\r\n\nrest", Unknown, true, "hello", "", ErrField},
		"LF behind trailers":     {"5\r\nhello\r\n0\r\na: b\n\r\nrest", Unknown, true, "hello", "", ErrField},
		"endless trailers":       {"5\r\nhello\r\n0\r\n" + strings.Repeat("a: b\r\n", 1<<16), Unknown, true, "hello", "", ErrTooLarge},
		"end within a chunk":     {"5\r\nhel", Unknown, true, "hel", "", io.ErrUnexpectedEOF},
		"end within a size":      {"5\r\nhello\r\n1", Unknown, true, "hello", "", io.ErrUnexpectedEOF},
		"end behind a chunk":     {"5\r\nhello\r\n", Unknown, true, "hello", "", io.ErrUnexpectedEOF},
		"end before the blank":   {"5\r\nhello\r\n0\r\n", Unknown, true, "hello", "", io.ErrUnexpectedEOF},
		"end within the blank":   {"5\r\nhello\r\n0\r\n\r", Unknown, true, "hello", "", io.ErrUnexpectedEOF},
		"end within trailers":    {"5\r\nhello\r\n0\r\na: b\r\n", Unknown, true, "hello", "", io.ErrUnexpectedEOF},
		"a longer chunk":         {"5\r\nhello!\r\n0\r\n\r\n", Unknown, true, "hello", "", anError},
		"a size that is none":    {"x\r\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
		"a size with a sign":     {"+5\r\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
		"a size with a prefix":   {"0x5\r\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
		"a size beyond 64 bits":  {"10000000000000005\r\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
		"LF behind a size":       {"5\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
		"LF behind a chunk":      {"5\r\nhello\n0\r\n\r\n", Unknown, true, "hello", "", anError},
		"CR within an extension": {"5;a\rb\r\nhello\r\n0\r\n\r\n", Unknown, true, "", "", anError},
	} {
		for way, reader := range ways {
			in := reader(c.send)
			b := NewBody(in, c.length, c.chunked)
			got, err := io.ReadAll(&b)
			switch {
			case string(got) != c.body, c.err != anError && err != c.err, c.err == anError && err == nil:
				t.Errorf("%s, %s: %q, %v, want %q, %v", name, way, got, err, c.body, c.err)
			case err == nil:
				if rest, _ := io.ReadAll(in); string(rest) != c.left {
					t.Errorf("%s, %s: %q is left", name, way, rest)
				}
				err = io.EOF
				if c.length >= 0 && b.Left() != 0 || c.chunked && b.Left() != 0 {
					t.Errorf("%s, %s: %d bytes are left", name, way, b.Left())
				}
			}
			for range 2 {
				if n, again := b.Read(make([]byte, 9)); n != 0 || again != err {
					t.Errorf("%s, %s: then %d bytes, %v instead of %v", name, way, n, again, err)
				}
			}
		}
	}
	var none Body
	if n, err := none.Read(make([]byte, 1)); n != 0 || err != io.EOF || none.Left() != 0 {
		t.Errorf("the zero Body: %d bytes, %v", n, err)
	}
}

// Left counts down, and the end of a body with a length comes with its last byte.
func TestLeft(t *testing.T) {
	b := NewBody(ways["at once"]("hello, world"), 12, false)
	for left := int64(12); left > 0; {
		n, err := b.Read(make([]byte, 5))
		if left -= int64(n); b.Left() != left || (err == io.EOF) != (left == 0) {
			t.Fatalf("%d bytes, %v, %d are left, want %d", n, err, b.Left(), left)
		}
	}
}

// A body reads as its reader does.
func TestBodyIsAReader(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	chunks := "3e8\r\n" + text[:1000] + "\r\n2328\r\n" + text[1000:] + "\r\n0\r\n\r\n"
	for _, b := range []Body{NewBody(ways["at once"](text), 10_000, false), NewBody(ways["at once"](text), Unknown, false), NewBody(ways["at once"](chunks), Unknown, true)} {
		if err := iotest.TestReader(&b, []byte(text)); err != nil {
			t.Error(err)
		}
	}
}
