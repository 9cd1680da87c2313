package trace

import (
	"fmt"
	"strings"
	"time"
)

// graph puts rows into order that say for which others they wait: by id, or by
// standing behind another row of their session.
type graph struct {
	l        *lines
	rows     []mooncakeRow
	sessions names
	ids      map[string]int32 // of requests, to rows
	waiting  bool             // rows wait by id
	untimed  int              // rows without a timestamp
	moved    int              // rows that stood behind a later one
	notes    []string
}

// add takes the current line.
func (g *graph) add(row mooncakeRow) error {
	if len(g.rows) > 0 && row.hasSession != (len(g.sessions) > 0) {
		return problem{what: "session_id is in some rows and not in others", hint: "give it in all rows or in none"}
	}
	if row.hasSession {
		row.Session = g.sessions.number(row.session)
		row.session = ""
	}
	if row.ID != "" {
		if other, ok := g.ids[row.ID]; ok {
			return problem{what: fmt.Sprintf("request_id %q is taken by line %d", clip(row.ID), g.rows[other].Line), hint: "give each request an id of its own"}
		}
		row.ID = strings.Clone(row.ID)
		g.ids[row.ID] = int32(len(g.rows))
	}
	for i := range row.waits {
		row.waits[i] = strings.Clone(row.waits[i])
	}
	g.waiting = g.waiting || row.isGraph
	if !row.timed {
		g.untimed++
	}
	row.Line = g.l.n
	g.rows = append(g.rows, row)
	return nil
}

// resolve gives the requests in order of arrival.
func (g *graph) resolve() ([]Request, error) {
	if len(g.sessions) == 0 && !g.waiting {
		return g.plain()
	}
	if err := g.join(); err != nil {
		return nil, err
	}
	order, err := g.schedule()
	if err != nil {
		return nil, err
	}
	rows := make([]Request, len(g.rows))
	for i := range rows {
		rows[i] = g.rows[i].Request
	}
	rows, moved := sorted(picked(rows, order))
	if g.moved = moved; moved > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%d rows stood behind a later one; sorted by arrival", moved))
	}
	if g.untimed > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%d rows have a delay and no timestamp: their arrival is set as if answers took no time; --timing sessions replays them as recorded", g.untimed))
	}
	return rows, nil
}

// plain is a file whose rows stand alone and in order.
func (g *graph) plain() ([]Request, error) {
	rows := make([]Request, len(g.rows))
	for i := range rows {
		rows[i] = g.rows[i].Request
		rows[i].Think = 0
		if !g.rows[i].timed {
			return nil, g.l.refuseRow(rows[i].Line, "timestamp is missing", "a delay needs a session_id, so that it is known after which request")
		}
	}
	return rows, g.l.refuseUnordered(rows, "timestamp")
}

// join fills in After.
func (g *graph) join() error {
	last, gaps := map[uint64]int32{}, 0
	for i := range g.rows {
		row := &g.rows[i]
		if g.waiting {
			for _, id := range row.waits {
				other, ok := g.ids[id]
				if !ok {
					return g.l.refuseRow(row.Line, fmt.Sprintf("wait_for names %q, which no row has", clip(id)), "is the file cut? keep whole sessions")
				}
				row.After = append(row.After, other)
			}
		} else if before, ok := last[row.Session]; ok {
			row.After = []int32{before}
			if b := &g.rows[before]; !row.delayed {
				if row.Think = row.At - b.At; row.Think < 0 {
					return g.l.refuseRow(row.Line, fmt.Sprintf("timestamp goes back by %v within the session", -row.Think), "sort the rows of a session by timestamp first")
				}
				gaps++
			}
		}
		if row.After == nil {
			row.Think = 0
		}
		last[row.Session] = int32(i)
	}
	if gaps > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%d follow-ups state no delay: their think time is the time between arrivals, which holds the answer's time too", gaps))
	}
	return nil
}

// schedule sets the arrivals of rows without a timestamp and orders rows so that
// each comes after those that it waits for.
func (g *graph) schedule() (order []int32, err error) {
	missing := make([]int, len(g.rows))
	followers := make([][]int32, len(g.rows))
	for i := range g.rows {
		missing[i] = len(g.rows[i].After)
		for _, a := range g.rows[i].After {
			followers[a] = append(followers[a], int32(i))
		}
		if missing[i] == 0 {
			order = append(order, int32(i))
		}
	}
	for next := 0; next < len(order); next++ {
		row := &g.rows[order[next]]
		latest := time.Duration(-1)
		for _, a := range row.After {
			latest = max(latest, g.rows[a].At)
		}
		switch {
		case !row.timed && latest < 0:
			return nil, g.l.refuseRow(row.Line, "timestamp is missing", "a request that follows none needs one")
		case !row.timed:
			row.At = latest + row.Think
		case row.At < latest:
			return nil, g.l.refuseRow(row.Line, fmt.Sprintf("the request arrives %v before one that it waits for", latest-row.At), "correct timestamp or wait_for")
		}
		if row.At > maxMillis*time.Millisecond {
			return nil, g.l.refuseRow(row.Line, "the delays add up to more than 90 years", "delays are in milliseconds")
		}
		for _, f := range followers[order[next]] {
			if missing[f]--; missing[f] == 0 {
				order = append(order, f)
			}
		}
	}
	for i := range missing {
		if missing[i] > 0 {
			return nil, g.l.refuseRow(g.rows[i].Line, "the request waits for itself, if only by way of others", "correct wait_for")
		}
	}
	return order, nil
}

// noteDeltas tells when follow-ups do not begin as the turn before them.
func (t *Trace) noteDeltas() {
	turns, alone := 0, 0
	for i := range t.Requests {
		r := &t.Requests[i]
		if len(r.After) != 1 || len(r.Blocks) == 0 {
			continue
		}
		before := &t.Requests[r.After[0]]
		if before.Session != r.Session {
			continue
		}
		turns++
		if len(before.Blocks) == 0 || before.Blocks[0] != r.Blocks[0] {
			alone++
		}
	}
	if alone*2 > turns {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d follow-ups have no block in common with the turn before: rows that hold only what is new in a turn give too low hit rates", alone, turns))
	}
}
