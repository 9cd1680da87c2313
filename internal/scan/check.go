package scan

import (
	"errors"
	"strings"
)

// MaxDepth is how deeply arrays and objects may be nested. Other readers of JSON
// recurse.
const MaxDepth = 1000

// What may be wrong with a text.
var (
	ErrInvalid = errors.New("it is not valid JSON")
	ErrDeep    = errors.New("its arrays and objects are nested too deeply")
)

// Check returns the text as a document if it is one JSON value (RFC 8259), nested
// MaxDepth deep at most. That text within quotes is UTF-8 is not asked for.
func Check(text string) (Document, error) {
	c := checker{text: text, long: make([]span, 0, 8+len(text)>>10)}
	return c.document()
}

// First is Check of the one value that a text begins with, whatever follows. It is for
// small ones: nothing is remembered of it.
func First(text string) (Document, error) {
	c := checker{text: text, first: true}
	return c.document()
}

func (c *checker) document() (Document, error) {
	if c.value() {
		return Document{text: c.text[:c.at], long: c.long}, nil
	}
	if c.deep {
		return Document{}, ErrDeep
	}
	return Document{}, ErrInvalid
}

// checker walks a text once. Its methods report whether what they read is right.
type checker struct {
	text  string
	at    int
	first bool // the text may go on behind its value
	deep  bool

	depth   int
	objects [MaxDepth/64 + 1]uint64 // one bit for each open level: it is an object

	long   []span
	opened [spanDepth]int // place in long of each open level
}

// value reads one value and the end of the text.
func (c *checker) value() bool {
	for {
		opened, ok := c.begin()
		if !ok {
			return false
		}
		if opened {
			continue
		}
		more, ok := c.close()
		if !ok || !more {
			return ok
		}
	}
}

// begin reads a value, or no more than the beginning of one that holds others: then
// the first of those comes next.
func (c *checker) begin() (opened, ok bool) {
	switch next := c.next(); next {
	case '{', '[':
		if c.depth == MaxDepth {
			c.deep = true
			return false, false
		}
		c.push(next == '{')
		c.at++
		if end := c.next(); end == next+2 { // } and ] are two behind { and [
			c.pop()
			return false, true
		}
		return true, next == '[' || c.key()
	case '"':
		from := c.at
		ok := c.string()
		if c.at-from >= spanBytes && c.depth <= spanDepth && !c.first {
			c.long = append(c.long, span{from, c.at})
		}
		return false, ok
	case 't':
		return false, c.word("true")
	case 'f':
		return false, c.word("false")
	case 'n':
		return false, c.word("null")
	default:
		return false, c.number()
	}
}

// close reads what may stand behind a value; more says that another one must come.
func (c *checker) close() (more, ok bool) {
	for {
		next := c.next()
		if c.depth == 0 {
			return false, c.first || c.at == len(c.text)
		}
		object := c.object()
		switch {
		case next == ',':
			c.at++
			return true, !object || c.key()
		case next == '}' && object, next == ']' && !object:
			c.pop()
		default:
			return false, false
		}
	}
}

// push opens a level at the bracket that is next.
func (c *checker) push(object bool) {
	if c.depth < spanDepth && !c.first {
		c.opened[c.depth] = len(c.long)
		c.long = append(c.long, span{from: c.at})
	}
	word, bit := c.depth/64, uint64(1)<<(c.depth%64)
	c.objects[word] &^= bit
	if object {
		c.objects[word] |= bit
	}
	c.depth++
}

// pop closes the innermost level at the bracket that is next. A short one holds no
// long value.
func (c *checker) pop() {
	c.at++
	if c.depth--; c.depth >= spanDepth || c.first {
		return
	}
	i := c.opened[c.depth]
	if c.at-c.long[i].from < spanBytes {
		c.long = c.long[:i]
		return
	}
	c.long[i].to = c.at
}

// object reports whether the innermost open level is an object.
func (c *checker) object() bool {
	return c.objects[(c.depth-1)/64]>>((c.depth-1)%64)&1 == 1
}

// next skips white space and returns the byte behind it, 0 at the end.
func (c *checker) next() byte {
	c.at = skipSpace(c.text, c.at)
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

// key reads a member's name and the colon behind it.
func (c *checker) key() bool {
	if c.next() != '"' || !c.string() || c.next() != ':' {
		return false
	}
	c.at++
	return true
}

func (c *checker) word(w string) bool {
	if !strings.HasPrefix(c.text[c.at:], w) {
		return false
	}
	c.at += len(w)
	return true
}

// string reads a string from its first quote.
func (c *checker) string() bool {
	for c.at++; ; {
		c.at = plain(c.text, c.at)
		if c.at >= len(c.text) {
			return false
		}
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			return true
		case b != '\\' || !c.escape(): // a control character, or no escape
			return false
		}
	}
}

// escape reads an escape from its backslash.
func (c *checker) escape() bool {
	if c.at+1 >= len(c.text) {
		return false
	}
	switch c.text[c.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.at += 2
		return true
	case 'u':
		if c.at+6 > len(c.text) {
			return false
		}
		for _, b := range []byte(c.text[c.at+2 : c.at+6]) {
			if hex(b) > 15 {
				return false
			}
		}
		c.at += 6
		return true
	}
	return false
}

func (c *checker) number() bool {
	c.skip('-')
	if !c.skip('0') && !c.digits() {
		return false
	}
	if c.skip('.') && !c.digits() {
		return false
	}
	if c.skip('e') || c.skip('E') {
		if !c.skip('+') {
			c.skip('-')
		}
		return c.digits()
	}
	return true
}

// skip reads one byte if it is next.
func (c *checker) skip(b byte) bool {
	if c.at == len(c.text) || c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

// digits reads one digit or more.
func (c *checker) digits() bool {
	start := c.at
	for c.at < len(c.text) && c.text[c.at]-'0' <= 9 {
		c.at++
	}
	return c.at > start
}
