package router

// lifeList is a ring of lives in order of arrival.
type lifeList struct{ head life }

func (q *lifeList) init() { q.head.prev, q.head.next = &q.head, &q.head }

func (q *lifeList) first() *life {
	if q.head.next == &q.head {
		return nil
	}
	return q.head.next
}

func (q *lifeList) add(l *life) {
	l.prev, l.next = q.head.prev, &q.head
	l.prev.next, q.head.prev = l, l
}

func (q *lifeList) drop(l *life) {
	l.prev.next, l.next.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}

// newLife takes a life from the unused ones or makes one. Its ticket's ID is
// made of the slot and a generation, so that tickets of ended lives are known.
func (c *Core) newLife() *life {
	var l *life
	if n := len(c.unused); n > 0 {
		l, c.unused = c.lives[c.unused[n-1]], c.unused[:n-1]
	} else {
		l = &life{slot: int32(len(c.lives)), ticket: Ticket{ID: uint64(len(c.lives))}}
		c.lives = append(c.lives, l)
	}
	c.oldest.add(l)
	return l
}

// current returns the life of the newest ticket t, nil for any other.
func (c *Core) current(t Ticket) *life {
	slot := t.ID & (1<<32 - 1)
	if slot >= uint64(len(c.lives)) {
		return nil
	}
	if l := c.lives[slot]; l.state != free && l.ticket == t {
		return l
	}
	return nil
}

func (c *Core) life(t Ticket, state lifeState) *life {
	if l := c.current(t); l != nil && l.state == state {
		return l
	}
	return nil
}

// end is the one place where a life ends.
func (c *Core) end(l *life) {
	c.oldest.drop(l)
	if l.state == parked {
		c.queue.remove(l)
	}
	tried, shown := l.tried, l.shown
	clear(tried)
	clear(shown)
	*l = life{slot: l.slot, ticket: Ticket{ID: l.ticket.ID + 1<<32}}
	l.tried, l.shown = tried[:0], shown[:0]
	c.unused = append(c.unused, l.slot)
}

// turn hands the life to the driver in a new state.
func (l *life) turn(s lifeState) Ticket {
	l.state = s
	l.ticket.Turn++
	return l.ticket
}

// Lives returns the number of requests between arrival and ending.
func (c *Core) Lives() int { return len(c.lives) - len(c.unused) }
