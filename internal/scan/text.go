package scan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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
	if inner := raw[1 : len(raw)-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var b strings.Builder
	b.Grow(len(raw))
	Text(raw, func(piece string) { b.WriteString(piece) })
	return b.String()
}

// Text calls f with what a string says, piece by piece; never for any other kind of
// value. A piece is valid during the call.
func Text(raw string, f func(piece string)) {
	if !IsString(raw) {
		return
	}
	rest := raw[1 : len(raw)-1]
	for {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			i = len(rest)
		}
		if i > 0 {
			f(rest[:i])
		}
		if rest = rest[i:]; rest == "" {
			return
		}
		var said string
		said, rest = escaped(rest)
		f(said)
	}
}

// escaped decodes the escape at the beginning of a text, and returns what is behind it.
func escaped(text string) (said, rest string) {
	switch text[1] {
	case 'n':
		return "\n", text[2:]
	case 't':
		return "\t", text[2:]
	case 'r':
		return "\r", text[2:]
	case 'b':
		return "\b", text[2:]
	case 'f':
		return "\f", text[2:]
	case 'u':
		r := unit(text)
		if text = text[6:]; utf16.IsSurrogate(r) {
			second := utf8.RuneError
			if strings.HasPrefix(text, `\u`) {
				second = unit(text)
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				text = text[6:]
			}
		}
		return string(r), text
	default:
		return text[1:2], text[2:]
	}
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
