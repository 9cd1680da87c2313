package router

import "container/heap"

// waiting holds parked lives by priority, then arrival.
type waiting []*life

func (q waiting) Len() int { return len(q) }
func (q waiting) Less(i, j int) bool {
	if q[i].req.Priority != q[j].req.Priority {
		return q[i].req.Priority > q[j].req.Priority
	}
	return q[i].number < q[j].number
}
func (q waiting) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].heapAt, q[j].heapAt = i, j
}
func (q *waiting) Push(x any) {
	l := x.(*life)
	l.heapAt = len(*q)
	*q = append(*q, l)
}
func (q *waiting) Pop() any {
	n := len(*q) - 1
	l := (*q)[n]
	(*q)[n] = nil
	*q = (*q)[:n]
	l.heapAt = -1
	return l
}

func (q *waiting) remove(l *life) {
	if l.heapAt >= 0 {
		heap.Remove(q, l.heapAt)
	}
}

// Waiting returns the number of requests in the queue.
func (c *Core) Waiting() int { return len(c.queue) }

// park puts a life into the bounded queue.
func (c *Core) park(now Time, l *life) Step {
	if len(c.queue) >= c.cfg.MaxQueue {
		return c.refuse(now, l, Refusal{Code: QueueFull, Reason: "all workers are at their limits and the queue is full"})
	}
	t := l.turn(parked)
	heap.Push(&c.queue, l)
	return Step{Kind: DoWait, Ticket: t, Deadline: l.arrived.Add(c.cfg.MaxWait)}
}

// wakeWidth is how far Wake looks past waiting requests that cannot go yet.
const wakeWidth = 8

// Wake takes the next waiting request that can go on and returns its next
// step, which the driver hands to whoever waits for Step.Ticket.ID. Call it
// until it returns false, after every Finish, Retry, SetFleet and Tick.
func (c *Core) Wake(now Time) (Step, bool) {
	var passed [wakeWidth]*life
	n := 0
	defer func() {
		for _, l := range passed[:n] {
			heap.Push(&c.queue, l)
		}
	}()
	for len(c.queue) > 0 && n < wakeWidth {
		l := heap.Pop(&c.queue).(*life)
		if l.notUntil > now || !c.canGo(l) {
			passed[n] = l
			n++
			continue
		}
		l.link, l.notUntil = 0, Never
		return c.advance(now, l), true
	}
	return Step{}, false
}

// canGo reports whether a woken life would get further than the queue.
func (c *Core) canGo(l *life) bool {
	anyUp := false
	for _, w := range c.workers {
		if c.eligible(w, l) {
			return true
		}
		anyUp = anyUp || c.serves(w, l) && !l.hasTried(w)
	}
	return !anyUp // nothing to wait for: let it be refused
}
