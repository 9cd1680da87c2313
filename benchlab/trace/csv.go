package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sheet is a CSV file whose columns are found by the names in its first line.
// Fields in double quotes may hold commas; none holds a line feed.
type sheet struct {
	l      *lines
	heads  []string
	places map[string]int
	cells  []string
	starts []int // column of the line that a cell begins at, from 1
}

// openSheet reads the first line, which must have the names in need.
func openSheet(l *lines, need ...string) (*sheet, error) {
	s := &sheet{l: l, places: map[string]int{}}
	line, ok, err := l.next()
	if err != nil || !ok {
		return nil, err
	}
	if err := s.split(string(line)); err != nil {
		return nil, l.refuse(err)
	}
	for i, h := range s.cells {
		h = strings.TrimSpace(h)
		if _, twice := s.places[h]; twice {
			return nil, l.refuse(problem{what: fmt.Sprintf("two columns are called %q", clip(h)), hint: "rename one", column: s.starts[i]})
		}
		s.places[h] = i
		s.heads = append(s.heads, h)
	}
	for _, n := range need {
		if _, ok := s.places[n]; !ok {
			return nil, l.refuse(problem{what: fmt.Sprintf("column %q is missing", n), hint: "the first line names the columns: " + strings.Join(need, ",")})
		}
	}
	return s, nil
}

// next reads the next row. At the end, and on an error, ok is false.
func (s *sheet) next() (ok bool, err error) {
	line, ok, err := s.l.next()
	if err != nil || !ok {
		return false, err
	}
	if err := s.split(string(line)); err != nil {
		return false, s.l.refuse(err)
	}
	if len(s.cells) != len(s.heads) {
		return false, s.l.refuse(problem{what: fmt.Sprintf("%d fields under %d columns", len(s.cells), len(s.heads)), hint: "is the line cut?"})
	}
	return true, nil
}

// cell is the text under a column, empty if there is no such column.
func (s *sheet) cell(head string) string {
	if i, ok := s.places[head]; ok {
		return s.cells[i]
	}
	return ""
}

// refuse is an error about the cell under a column.
func (s *sheet) refuse(head string, err error) error {
	var p problem
	if i, ok := s.places[head]; ok && errors.As(err, &p) {
		p.column = s.starts[i]
		err = p
	}
	return s.l.refuse(err)
}

// others lists the columns besides those that a reader knows.
func (s *sheet) others(known ...string) (list []string) {
	for _, h := range s.heads {
		if !slices.Contains(known, h) {
			list = append(list, h)
		}
	}
	return list
}

func (s *sheet) split(line string) error {
	s.cells, s.starts = s.cells[:0], s.starts[:0]
	for at := 0; ; at++ {
		start := at
		if at < len(line) && line[at] == '"' {
			text, n, ok := quoted(line[at:])
			if at += n; !ok || at < len(line) && line[at] != ',' {
				return problem{what: "quotes do not match", hint: `a field in quotes ends with a quote and a comma; a quote in it is written ""`, column: start + 1}
			}
			s.cells = append(s.cells, text)
		} else {
			n := strings.IndexByte(line[at:], ',')
			if n < 0 {
				n = len(line) - at
			}
			s.cells = append(s.cells, line[at:at+n])
			at += n
		}
		s.starts = append(s.starts, start+1)
		if at >= len(line) {
			return nil
		}
	}
}

// quoted reads a field in quotes; n is how far it goes.
func quoted(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			b.WriteByte(s[i])
		} else if i+1 < len(s) && s[i+1] == '"' {
			b.WriteByte('"')
			i++
		} else {
			return b.String(), i + 1, true
		}
	}
	return "", len(s), false
}
