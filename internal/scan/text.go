package scan

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// IsString reports whether a checked value is a string.
func IsString(raw string) bool { return raw != "" && raw[0] == '"' }

// IsObject reports whether a checked value is an object.
func IsObject(raw string) bool { return raw != "" && raw[0] == '{' }

// IsArray reports whether a checked value is an array.
func IsArray(raw string) bool { return raw != "" && raw[0] == '[' }

// String returns what a string says; "" for any other kind of value. Without escapes
// it is a part of raw.
func String(raw string) string {
	if !IsString(raw) {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	said := make([]byte, len(raw)+wordBytes)
	n, _ := Decode(said, raw, 1)
	return string(said[:n])
}

// wordBytes is the room that Decode wants for what comes next.
const wordBytes = 8

// single is what escapes of one letter stand for.
var single = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Decode writes what a string says to a buffer, from a place in it on: 1 is where it
// begins. It returns the bytes written, and the place to go on from when the buffer
// has less than eight bytes left; at the string's end that is its last quote.
func Decode(to []byte, raw string, from int) (n, next int) {
	at, end := from, len(raw)-1
	bytes := unsafe.Slice(unsafe.StringData(raw), len(raw)) // only read
	for at < end && n+wordBytes <= len(to) {
		switch {
		case bytes[at] == '\\' && single[bytes[at+1]] != 0:
			to[n] = single[bytes[at+1]]
			n, at = n+1, at+2
		case bytes[at] == '\\':
			r, length := escaped(raw[at:end])
			n, at = n+utf8.EncodeRune(to[n:], r), at+length
		case at+wordBytes <= end:
			word := binary.LittleEndian.Uint64(bytes[at:])
			binary.LittleEndian.PutUint64(to[n:], word)
			before := bits.TrailingZeros64(escapes(word)) / 8
			n, at = n+before, at+before
		default:
			to[n] = bytes[at]
			n, at = n+1, at+1
		}
	}
	return n, at
}

// escapes sets the high bit of the first of eight bytes that is a backslash; those
// above it may be wrong.
func escapes(word uint64) uint64 {
	other := word ^ ones*'\\'
	return (other - ones) &^ other & highs
}

// escaped decodes the escape of the form \u0000 at the beginning of a text, or a pair
// of them, and returns how long it is.
func escaped(text string) (r rune, length int) {
	first := unit(text)
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if rest := text[6:]; strings.HasPrefix(rest, `\u`) {
		if r := utf16.DecodeRune(first, unit(rest)); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// unit returns the number in an escape of the form \u0000.
func unit(text string) rune {
	var r rune
	for _, b := range []byte(text[2:6]) {
		r = r<<4 | rune(hex(b))
	}
	return r
}

// hex returns the value of a hexadecimal digit, more than 15 for any other byte.
func hex(b byte) byte {
	switch {
	case b >= '0' && b <= '9':
		return b - '0'
	case b >= 'a' && b <= 'f':
		return b - 'a' + 10
	case b >= 'A' && b <= 'F':
		return b - 'A' + 10
	}
	return 16
}
