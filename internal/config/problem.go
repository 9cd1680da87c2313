package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxProblems bounds how many problems one reading reports.
const maxProblems = 20

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Line, Column int    // of the file, from 1; 0 if there is no file
	Path         string // of the setting, as workers[0].url; "" for the whole
	Message      string
	Hint         string // what to do about it, or ""
}

// Error lists what is wrong with a configuration, in the file's order, at
// most 20 problems.
type Error struct {
	File     string // "" if the configuration was not read from a file
	Problems []Problem
}

// Error returns one line for each problem, as file:line:column: message, each
// followed by a line with a hint if there is one.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case e.File != "" && p.Line > 0:
			fmt.Fprintf(&b, "%s:%d:%d: ", e.File, p.Line, p.Column)
		case e.File != "":
			fmt.Fprintf(&b, "%s: ", e.File)
		}
		if p.Path != "" {
			fmt.Fprintf(&b, "%s: ", p.Path)
		}
		b.WriteString(p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, "\n  hint: %s", p.Hint)
		}
	}
	return b.String()
}

// position is a place in the file, from 1; the zero position is none.
type position struct{ line, column int }

// problems collects what is wrong, with the place of each setting in the file.
type problems struct {
	places map[string]position // by path; nil if there is no file
	list   []Problem
}

// at notes a problem of the setting at path, at its place in the file or, if
// it is not written there, at that of what should contain it.
func (p *problems) at(path, message, hint string) {
	place, ok := p.places[path]
	for outer := path; !ok && outer != ""; {
		outer = outer[:max(strings.LastIndexAny(outer, ".["), 0)]
		place, ok = p.places[outer]
	}
	p.here(place, path, message, hint)
}

// here notes a problem at a place.
func (p *problems) here(at position, path, message, hint string) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, Problem{Line: at.line, Column: at.column, Path: path, Message: message, Hint: hint})
	}
}

// err returns the problems as an error, nil if there is none.
func (p *problems) err(file string) error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{File: file, Problems: p.list}
}

// nearest returns a hint that names the known word closest to the given one,
// or all of them if none is close.
func nearest(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(word), k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "it may be " + strings.Join(known, ", ")
}

// distance is the Levenshtein distance of two words in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// quote quotes a text from the file, shortened if it is long.
func quote(text string) string {
	const most = 60 // characters
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}
