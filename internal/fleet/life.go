package fleet

import "math"

// life numbers a worker's lives from what can be seen of a restart. The zero
// life has not begun.
//
// The number is the process's start time in Unix seconds where the worker
// exports it, so that all gateways of a fleet count alike; else it counts from
// one. It only grows.
type life struct {
	incarnation uint64
	start       Figure // of the process, s since the Unix epoch
	work        Figure // tokens handled since the start
	suspect     bool   // a connection was refused: nobody listened for a moment
}

// refused notes that the worker refused a connection.
func (l *life) refused() { l.suspect = true }

// doubtful reports whether the worker must be asked who it is before it may
// take requests.
func (l *life) doubtful() bool { return l.incarnation == 0 || l.suspect }

// startSlack is the error of an exported start time: some exporters compute it
// anew from the system's uptime each time. Seconds.
const startSlack = 2

// observe takes in who the worker says it is, as far as it does, and reports
// whether that is a new life. A worker that was away and says nothing counts
// as restarted: to believe in a cache that is gone costs more.
func (l *life) observe(start, work Figure) (restarted bool) {
	switch {
	case l.incarnation == 0:
		restarted = true
	case start.Known && l.start.Known && math.Abs(start.Value-l.start.Value) > startSlack:
		restarted = true
	case work.Known && l.work.Known && work.Value < l.work.Value:
		restarted = true
	case start.Known && l.start.Known, work.Known && l.work.Known && l.work.Value > 0:
		restarted = false
	default:
		restarted = l.suspect
	}
	if restarted {
		l.incarnation++
		if start.Known && start.Value > 0 && start.Value < 1<<53 {
			l.incarnation = max(l.incarnation, uint64(start.Value))
		}
		l.start, l.work = Figure{}, Figure{}
	}
	l.suspect = false
	if start.Known {
		l.start = start
	}
	if work.Known {
		l.work = work
	}
	return restarted
}
