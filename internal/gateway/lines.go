package gateway

import "bytes"

// lines holds back the incomplete last line of a stream, up to maxEventLine.
type lines struct {
	tail  []byte
	ready []byte
}

// take takes the next bytes of the stream and returns those that may go out: up
// to the last end of a line. They are valid until the next call.
func (l *lines) take(b []byte) []byte {
	end := bytes.LastIndexAny(b, "\r\n") + 1
	if len(l.tail)+len(b) > maxEventLine && end == 0 {
		end = len(b) // such a line passes as it comes
	}
	if end == 0 {
		l.tail = append(l.tail, b...)
		return nil
	}
	out := b[:end]
	if len(l.tail) > 0 {
		l.ready = append(append(l.ready[:0], l.tail...), out...)
		out = l.ready
	}
	l.tail = append(l.tail[:0], b[end:]...)
	return out
}

// rest returns what was held back, and forgets it.
func (l *lines) rest() []byte {
	b := l.tail
	l.tail = nil
	return b
}
