package downstream

import (
	"errors"
	"os"
	"time"
)

// limit is a deadline that is moved much more often than it strikes. The connection is
// told when it is about to wait, and not if it would wake up before anyway: then it is
// told again.
type limit struct {
	due   time.Time // zero: none
	next  time.Time // when the connection wakes up, zero: never
	exact bool      // it must not wake up before: TLS is over with a write that did
}

func (l *limit) want(due time.Time) { l.due = due }

// arm makes sure that the connection wakes up in time.
func (l *limit) arm(set func(time.Time) error) {
	if l.due == l.next || !l.exact && (l.due.IsZero() || !l.next.IsZero() && !l.due.Before(l.next)) {
		return
	}
	l.again(set)
}

// within arms a limit of writing for what TLS writes while it reads: where none is wanted,
// it is that of reading.
func (l *limit) within(reading time.Time, set func(time.Time) error) {
	due := l.due
	if due.IsZero() {
		due = reading
	}
	if due != l.next {
		l.next = due
		_ = set(due)
	}
}

func (l *limit) again(set func(time.Time) error) {
	l.next = l.due
	_ = set(l.due) // the use of a closed connection tells
}

// early reports whether the connection woke up too early.
func (l *limit) early(err error) bool {
	return !l.exact && errors.Is(err, os.ErrDeadlineExceeded) && (l.due.IsZero() || time.Now().Before(l.due))
}

// Read reads from the client.
func (c *conn) Read(b []byte) (int, error) {
	if c.heard.ahead && len(b) > 0 {
		c.heard.ahead = false
		return copy(b, c.heard.early[:]), nil
	}
	c.asked.arm(c.SetReadDeadline)
	if c.asked.exact {
		c.given.within(c.asked.due, c.SetWriteDeadline)
	}
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || err == nil || !c.asked.early(err) {
			return n, err
		}
		c.asked.again(c.SetReadDeadline)
	}
}

// Write writes to the client.
func (c *conn) Write(b []byte) (int, error) {
	c.given.arm(c.SetWriteDeadline)
	for sent := 0; ; {
		n, err := c.Conn.Write(b[sent:])
		if sent += n; err == nil || !c.given.early(err) {
			return sent, err
		}
		c.given.again(c.SetWriteDeadline)
	}
}
