package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// RowError says which line of which input is wrong, how, and what to do.
type RowError struct {
	Name    string // the input, as Read was told
	Line    int    // from 1
	Problem string // what is wrong
	Hint    string // the next thing to do; may be empty
}

// Error is "name:line: problem (hint)".
func (e *RowError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s (%s)", e.Name, e.Line, e.Problem, e.Hint)
}

// lines hands out the lines of an input with their numbers, none longer than a
// bound. Blank lines are skipped and counted.
type lines struct {
	in    *bufio.Reader
	name  string
	limit int // bytes of a line; no more than in's buffer
	n     int // number of the current line
	blank int // blank lines so far
}

// next gives the next line that is not blank; the bytes are valid until the next
// call. At the end, and on an error, ok is false.
func (l *lines) next() (line []byte, ok bool, err error) {
	for {
		line, err := l.in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return nil, false, nil
		}
		l.n++
		switch {
		case errors.Is(err, bufio.ErrBufferFull), len(line) > l.limit:
			return nil, false, l.refuse(fmt.Sprintf("line is longer than %d bytes", l.limit),
				"is this the right file? else raise the line limit")
		case errors.Is(err, errTooLarge):
			return nil, false, l.refuse(err.Error(), "raise the limit or cut the file")
		case err != nil && err != io.EOF:
			return nil, false, fmt.Errorf("%s:%d: reading: %w; check that the file is complete", l.name, l.n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, true, nil
		}
		l.blank++
	}
}

// refuse is an error about the current line.
func (l *lines) refuse(problem, hint string) error {
	return &RowError{Name: l.name, Line: l.n, Problem: problem, Hint: hint}
}

// capped fails, rather than ends, once more than left bytes were read.
type capped struct {
	r    io.Reader
	left int64
}

var errTooLarge = errors.New("input is larger than the limit once unpacked")

func (c *capped) Read(p []byte) (int, error) {
	if c.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
