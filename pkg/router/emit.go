package router

// TakeEvents moves the events that link i observes to buf and returns it.
func (c *Core) TakeEvents(i int, buf []Event) []Event {
	if i < 0 || i >= len(c.cfg.Links) {
		return buf
	}
	l := &c.links[i]
	buf = append(buf, l.pending...)
	clear(l.pending)
	l.pending = l.pending[:0]
	return buf
}

// tells reports whether any strategy wants events of a kind. If none does, the
// event has happened all the same: it has a number.
func (c *Core) tells(kind EventKind) bool {
	if c.wanted[kind] {
		return true
	}
	c.events++
	return false
}

// report emits what became of a request at its worker.
func (c *Core) report(kind EventKind, now Time, l *life, u Usage) {
	if !c.tells(kind) {
		return
	}
	c.emit(Event{
		Kind: kind, At: now, Request: l.req.ID, Key: l.req.Key, Worker: l.worker.ref(),
		Attempt: l.attempt, By: c.links[l.by].name, Usage: u,
	})
}

func (c *Core) emit(e Event) {
	c.events++
	e.Number = c.events
	for i := range c.links {
		l := &c.links[i]
		if !l.wants[e.Kind] {
			continue
		}
		if len(l.pending) >= maxPending {
			c.dropped.Events++
			continue
		}
		l.pending = append(l.pending, e)
	}
}
