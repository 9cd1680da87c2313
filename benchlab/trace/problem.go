package trace

import (
	"fmt"
	"slices"
	"strings"
)

// problem is what is wrong with a row, before the row's place is known.
type problem struct {
	what, hint string
	column     int // of the row's text, from 1; 0 when the whole row is meant
}

func (p problem) Error() string { return p.what }

// clip bounds text that is taken over from a file.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// ignored counts rows with fields that a reader does not use and keeps the first
// few names.
type ignored struct {
	rows  int
	names []string
}

func (g *ignored) add(fields []string) {
	if len(fields) == 0 {
		return
	}
	g.rows++
	for _, f := range fields {
		if f = clip(f); len(g.names) < 8 && !slices.Contains(g.names, f) {
			g.names = append(g.names, f)
		}
	}
}

func (g *ignored) notes() []string {
	if g.rows == 0 {
		return nil
	}
	return []string{fmt.Sprintf("fields ignored in %d rows: %q", g.rows, g.names)}
}
