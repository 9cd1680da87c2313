package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// refuseUnordered is an error if a row arrives before the one above it.
func (l *lines) refuseUnordered(rows []Request, what string) error {
	for i := 1; i < len(rows); i++ {
		if back := rows[i-1].At - rows[i].At; back > 0 {
			return l.refuseRow(rows[i].Line, fmt.Sprintf("%s goes back by %v", what, back), "sort the rows by "+what+" first")
		}
	}
	return nil
}

// fromZero moves all times so that the first request arrives at 0, and tells so.
func (t *Trace) fromZero() {
	if len(t.Requests) == 0 || t.Requests[0].At == 0 {
		return
	}
	base := t.Requests[0].At
	for i := range t.Requests {
		t.Requests[i].At -= base
	}
	t.Notes = append(t.Notes, fmt.Sprintf("time moved so that the first request arrives at 0 (it was at %s s)",
		strconv.FormatFloat(base.Seconds(), 'f', -1, 64)))
}

// sorted puts rows in order of arrival, equal ones as they stand, and renumbers
// After. It reports how many rows stood behind a later one. Each row in After
// arrives no later than its follower and stands before it.
func sorted(rows []Request) (out []Request, moved int) {
	for i := 1; i < len(rows); i++ {
		if rows[i].At < rows[i-1].At {
			moved++
		}
	}
	if moved == 0 {
		return rows, 0
	}
	order := make([]int32, len(rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(rows[a].At, rows[b].At) })
	return picked(rows, order), moved
}

// picked gives the rows with these indices, in this order. After loses rows that
// are left out, and Think with the last of them.
func picked(rows []Request, order []int32) []Request {
	place := make([]int32, len(rows))
	for i := range place {
		place[i] = -1
	}
	for i, from := range order {
		place[from] = int32(i)
	}
	out := make([]Request, len(order))
	for i, from := range order {
		r := rows[from]
		var after []int32
		for _, a := range r.After {
			if place[a] >= 0 {
				after = append(after, place[a])
			}
		}
		slices.Sort(after)
		if r.After = after; after == nil {
			r.Think = 0
		}
		out[i] = r
	}
	return out
}

// link makes each request of a session follow the one of it that was answered
// last before the request was sent. service gives the time that an answer took, if
// it is known; nil: it never is, and then Think is the time between arrivals.
// Requests of a session that overlap do not follow each other.
func (t *Trace) link(service func(row int32) (d time.Duration, known bool)) {
	type answer struct {
		row   int32
		end   time.Duration
		known bool
	}
	answers, gaps := map[uint64][]answer{}, 0
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Session == 0 {
			continue
		}
		open := answers[r.Session]
		best := answer{row: -1}
		for _, a := range open {
			if a.end <= r.At && (best.row < 0 || a.end >= best.end) {
				best = a
			}
		}
		if best.row >= 0 {
			r.After, r.Think = []int32{best.row}, r.At-best.end
			if !best.known {
				gaps++
			}
		}
		a := answer{row: int32(i), end: r.At}
		if service != nil {
			var d time.Duration
			d, a.known = service(a.row)
			a.end += d
		}
		if len(open) >= maxOpen {
			open = open[1:]
		}
		answers[r.Session] = append(open, a)
	}
	if gaps > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("think time of %d follow-ups is the time between arrivals, which holds the answer's time too", gaps))
	}
}

// maxOpen bounds the requests of a session that are looked at for a predecessor.
const maxOpen = 64
