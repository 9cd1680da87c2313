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
	Column  int    // byte of the line, from 1; 0 when the whole line is meant
	Problem string // what is wrong
	Hint    string // the next thing to do; may be empty
}

// Error is "name:line:column: problem (hint)".
func (e *RowError) Error() string {
	place := fmt.Sprintf("%s:%d", e.Name, e.Line)
	if e.Column > 0 {
		place += fmt.Sprintf(":%d", e.Column)
	}
	if e.Hint == "" {
		return fmt.Sprintf("%s: %s", place, e.Problem)
	}
	return fmt.Sprintf("%s: %s (%s)", place, e.Problem, e.Hint)
}

// lines hands out the lines of an input with their numbers, none longer than a
// bound. Blank lines are skipped and counted.
type lines struct {
	in     *bufio.Reader
	name   string
	o      Options
	raw    *counted // behind in: the unpacked bytes
	n      int      // number of the current line
	indent int      // bytes before its text
	blank  int      // blank lines so far
	crlf   int      // lines that end in CR LF
	long   []byte   // a line longer than in's buffer
	bom    bool     // a byte order mark was skipped
}

// each has all further lines added, with their numbers, and refuses the file at the
// first that cannot be.
func (l *lines) each(add func(line []byte, n int) error) error {
	for {
		line, ok, err := l.next()
		if err != nil || !ok {
			return err
		}
		if err := add(line, l.n); err != nil {
			return l.refuse(err)
		}
	}
}

// next gives the next line that is not blank, without the space around it; the
// bytes are valid until the next call. At the end, and on an error, ok is false.
func (l *lines) next() (line []byte, ok bool, err error) {
	for {
		line, err := l.whole()
		if err == io.EOF && len(line) == 0 {
			return nil, false, nil
		}
		l.n++
		switch {
		case len(line) > l.o.MaxLine:
			return nil, false, l.refuse(problem{what: fmt.Sprintf("line is longer than %d bytes", l.o.MaxLine),
				hint: "a trace has one request or one session a line; is this one?"})
		case errors.Is(err, errTooLarge):
			return nil, false, l.refuse(problem{what: err.Error(), hint: "cut the file into parts, as with split -l"})
		case err != nil && err != io.EOF:
			return nil, false, fmt.Errorf("%s:%d: reading: %w; check that the file is complete", l.name, l.n, err)
		}
		if bytes.HasSuffix(line, []byte("\r\n")) {
			l.crlf++
		}
		text := bytes.TrimLeft(line, " \t\r\n")
		l.indent = len(line) - len(text)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, true, nil
		}
		l.blank++
	}
}

// whole reads up to and with the next line feed; of a line longer than the bound
// it reads only as much as shows that.
func (l *lines) whole() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.long = append(l.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) && len(l.long) <= l.o.MaxLine {
		line, err = l.in.ReadSlice('\n')
		l.long = append(l.long, line...)
	}
	return l.long, err
}

// refuse is an error about the current line.
func (l *lines) refuse(err error) error {
	p, ok := errors.AsType[problem](err)
	if !ok {
		p = problem{what: err.Error()}
	}
	e := &RowError{Name: l.name, Line: l.n, Problem: p.what, Hint: p.hint}
	if p.column > 0 {
		e.Column = l.indent + p.column
	}
	return e
}

// refuseRow is an error about an earlier line.
func (l *lines) refuseRow(line int, what, hint string) error {
	return &RowError{Name: l.name, Line: line, Problem: what, Hint: hint}
}

// notes tells what was skipped on the way.
func (l *lines) notes() (notes []string) {
	if l.bom {
		notes = append(notes, "byte order mark skipped")
	}
	if l.blank != 0 {
		notes = append(notes, fmt.Sprintf("%d blank lines skipped", l.blank))
	}
	return notes
}
