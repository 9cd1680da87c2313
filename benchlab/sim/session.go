package sim

// isRoot reports whether a row is sent at its own time, whatever comes before.
func (l *lab) isRoot(row int) bool {
	return l.config.Options.Timing == Recorded || len(l.config.Trace.Requests[row].After) == 0
}

// expect enters the arrival of the first row, from one on, that is sent at its
// own time.
func (l *lab) expect(row int) {
	for ; row < len(l.requests); row++ {
		if l.isRoot(row) {
			at := l.lead.Add(l.config.Trace.Requests[row].At)
			l.agenda.add(event{at: at, kind: arrives, who: int32(row)})
			return
		}
	}
}

// follow sends, in time, the rows that waited for a row's answer as the last one.
func (l *lab) follow(row int32) {
	for _, next := range l.outline.followers(row) {
		r := &l.config.Trace.Requests[next]
		if n := int32(len(r.After)); n > 1 {
			missing, ok := l.joins[next]
			if !ok {
				missing = n
			}
			if missing--; missing > 0 {
				l.joins[next] = missing
				continue
			}
			delete(l.joins, next)
		}
		l.agenda.add(event{at: l.now.Add(r.Think), kind: arrives, who: next})
	}
}
