package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// unasked takes the trailing usage event out of a stream, where the gateway
// asked for it and the client did not. It gets whole lines, as lines gives them;
// parts of a line that is too long to be held pass.
type unasked struct {
	skip   skipping
	within bool // the last byte that passed was within a line
	out    []byte
}

// skipping is what is left to be taken out.
type skipping uint8

const (
	nothing   skipping = iota
	lineEnd            // the end of the event's line
	blankLine          // the blank line behind it
)

// pass returns what is to go on of the bytes, until the next call.
func (u *unasked) pass(b []byte) []byte {
	b = u.skipped(b)
	if !bytes.Contains(b, []byte(`"usage"`)) {
		u.passed(b)
		return b
	}
	u.out = u.out[:0]
	for len(b) > 0 {
		n := bytes.IndexAny(b, "\r\n") + 1
		if n == 0 {
			n = len(b)
		}
		if line := b[:n]; !u.within && isUsageEvent(bytes.TrimRight(line, "\r\n")) {
			u.skip = lineEnd
			b = u.skipped(b[len(bytes.TrimRight(line, "\r\n")):])
			continue
		}
		u.passed(b[:n])
		u.out = append(u.out, b[:n]...)
		b = b[n:]
	}
	return u.out
}

func (u *unasked) passed(b []byte) {
	if len(b) > 0 {
		last := b[len(b)-1]
		u.within = last != '\n' && last != '\r'
	}
}

// skipped takes off what belongs to an event that was taken out: the end of its
// line, and one blank line.
func (u *unasked) skipped(b []byte) []byte {
	for len(b) > 0 && u.skip != nothing {
		switch {
		case b[0] == '\n' && u.skip == lineEnd:
			u.skip = blankLine
		case b[0] == '\n':
			u.skip = nothing
		case b[0] != '\r':
			u.skip = nothing
			return b
		}
		b = b[1:]
	}
	return b
}

// isUsageEvent reports whether a line is the event with a stream's usage and
// nothing else.
func isUsageEvent(line []byte) bool {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok || !bytes.Contains(data, []byte(`"usage"`)) || !gjson.ValidBytes(data) {
		return false
	}
	root := gjson.ParseBytes(data)
	choices := root.Get("choices")
	return choices.IsArray() && len(choices.Array()) == 0 && root.Get("usage").IsObject()
}
