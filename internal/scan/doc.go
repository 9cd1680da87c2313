// Package scan reads JSON text without decoding it, eight bytes at a time where that
// is text in quotes: most of a prompt. A body is checked once, as a whole, which makes
// it a Document; all other functions rely on that and take values of one only.
//
// Reading order: check.go (is it JSON), walk.go (members and elements), text.go (what
// a string says).
package scan
