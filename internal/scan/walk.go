package scan

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// Document is checked text. It remembers where long values end, so that nobody walks
// over them again.
type Document struct {
	text string
	long []span // by where they begin
}

// span is where a value begins and ends.
type span struct{ from, to int }

// Values of spanBytes and more are remembered, down to spanDepth levels. That bounds
// what is remembered by a small multiple of the text.
const (
	spanBytes = 64
	spanDepth = 8
)

// Value is one value in a document.
type Value struct {
	Name  string // of a member of an object, decoded; "" in an array
	Raw   string // the value as it is written; "" for no value
	Index int    // of Raw in the document
}

// Root returns the value that is the whole document.
func (d *Document) Root() Value {
	at := skipSpace(d.text, 0)
	return Value{Raw: d.text[at:d.end(at)], Index: at}
}

// Each calls f for each member of an object, or element of an array, in order, until
// f returns false. Any other kind of value has none.
func (d *Document) Each(of Value, f func(Value) bool) {
	if !IsObject(of.Raw) && !IsArray(of.Raw) {
		return
	}
	text, at := d.text, of.Index
	for {
		at = skipSpace(text, at+1)
		if text[at] == '}' || text[at] == ']' {
			return // it is empty
		}
		var v Value
		if IsObject(of.Raw) {
			end := skipString(text, at)
			v.Name = String(text[at:end])
			at = skipSpace(text, skipSpace(text, end)+1) // behind the colon
		}
		end := d.end(at)
		v.Raw, v.Index = text[at:end], at
		if !f(v) {
			return
		}
		if at = skipSpace(text, end); text[at] != ',' {
			return
		}
	}
}

// Member returns the first member of this name of an object; no value if there is
// none.
func (d *Document) Member(object Value, name string) (found Value) {
	d.Each(object, func(v Value) bool {
		if v.Name == name {
			found = v
		}
		return found.Raw == ""
	})
	return found
}

// end returns the place behind the value that begins at a place.
func (d *Document) end(at int) int {
	if i, long := slices.BinarySearchFunc(d.long, at, func(s span, at int) int { return s.from - at }); long {
		return d.long[i].to
	}
	return skip(d.text, at)
}

// skip walks to the place behind the value that begins at a place.
func skip(text string, at int) int {
	switch text[at] {
	case '"':
		return skipString(text, at)
	case '{', '[':
		for depth := 0; ; {
			switch text[at] {
			case '"':
				at = skipString(text, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
			at++
		}
	}
	for at < len(text) {
		switch text[at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return at
		}
		at++
	}
	return at
}

// skipString returns the place behind the string that begins at a place.
func skipString(text string, at int) int {
	for at++; ; at += 2 { // behind an escape's first byte; none of the others is special
		if at = plain(text, at); text[at] == '"' {
			return at + 1
		}
	}
}

// skipSpace returns the first place from one on that holds no white space.
func skipSpace(text string, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// plain returns the first place from one on with a quote, a backslash or a control
// character; the text's length if there is none.
func plain(text string, at int) int {
	bytes := unsafe.Slice(unsafe.StringData(text), len(text)) // only read
	for ; at+8 <= len(bytes); at += 8 {
		if found := special(bytes[at:]); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(text) && text[at] >= ' ' && text[at] != '"' && text[at] != '\\' {
		at++
	}
	return at
}

// Eight bytes of one, and eight high bits.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special sets the high bit of the first of eight bytes that is a quote, a backslash
// or a control character; those above it may be wrong.
func special(b []byte) uint64 {
	w := binary.LittleEndian.Uint64(b)
	low := w ^ ones*2 // a quote becomes a space, and what is above a space stays so
	return ((low - ones*(' '+1)) | ((w ^ ones*'\\') - ones)) &^ w & highs
}
