package trace

import (
	"fmt"
	"slices"
	"time"
)

// noteCopies counts rows that repeat an earlier row in all that was recorded.
// They are kept: a client may well have sent the same twice.
func (t *Trace) noteCopies() {
	type row struct {
		input, output int
		last, session uint64
	}
	seen := map[row]int{} // of requests with one arrival
	at := time.Duration(-1)
	copies, first := 0, 0
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.At != at {
			at = r.At
			clear(seen)
		}
		k := row{r.Input, r.Output, 0, r.Session}
		if n := len(r.Blocks); n > 0 {
			k.last = r.Blocks[n-1]
		}
		was, ok := seen[k]
		if !ok {
			seen[k] = i
		} else if slices.Equal(t.Requests[was].Blocks, r.Blocks) {
			if copies++; copies == 1 {
				first = r.Line
			}
		}
	}
	if copies > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("rows that equal an earlier one in all they say: %d, the first in line %d; kept", copies, first))
	}
}
