package fleet

import "time"

// health decides from checks whether a worker takes requests. The zero health
// is that of a new worker: not up until enough checks in a row have passed.
type health struct {
	up   bool
	good int // checks passed in a row
	bad  int // checks failed in a row, refused connections included
}

// observe takes one check in.
func (h *health) observe(ok bool, successes, failures int) {
	if ok {
		h.good, h.bad = h.good+1, 0
		h.up = h.up || h.good >= successes
		return
	}
	h.good, h.bad = 0, h.bad+1
	h.up = h.up && h.bad < failures
}

// quick is the time between checks that settle a doubt.
const quick = 100 * time.Millisecond

// delay returns how long to wait with the next check: the interval while all
// is well, quick checks when a change is about to be confirmed, and doubling
// ones at a worker that stays down.
func (h *health) delay(interval time.Duration, failures int) time.Duration {
	switch {
	case h.up && h.bad == 0:
		return interval
	case h.up || h.good > 0:
		return min(quick, interval)
	}
	return min(quick<<min(max(h.bad-failures, 0), 16), interval)
}
