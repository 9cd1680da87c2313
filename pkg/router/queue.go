package router

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// waiting holds parked lives in the order in which they may go: by priority,
// then arrival.
type waiting []*life

// find returns where in the queue the life is, or belongs.
func (q waiting) find(l *life) int {
	i, _ := slices.BinarySearchFunc(q, l, func(a, b *life) int {
		return cmp.Or(cmp.Compare(b.req.Priority, a.req.Priority), cmp.Compare(a.number, b.number))
	})
	return i
}

func (q *waiting) add(l *life) { *q = slices.Insert(*q, q.find(l), l) }

func (q *waiting) remove(l *life) {
	i := q.find(l)
	*q = slices.Delete(*q, i, i+1)
}

// Waiting returns the number of requests in the queue.
func (c *Core) Waiting() int { return len(c.queue) }

// park puts a life into the bounded queue. It may wait there MaxWait in all
// before it is sent somewhere.
func (c *Core) park(now Time, l *life) Step {
	if l.waitsFrom == Never && c.expects(c.queue.find(l)+1) > c.cfg.MaxWait.Seconds() {
		return c.refuse(l, Refusal{Code: QueueFull, Reason: "the requests before it are expected to take longer than a request may wait", RetryAfter: c.queueTime()})
	}
	if len(c.queue) >= c.cfg.MaxQueue && !c.displace(l) {
		return c.refuse(l, Refusal{Code: QueueFull, Reason: "no worker can take the request now and the queue is full", RetryAfter: c.queueTime()})
	}
	if l.waitsFrom == Never {
		l.waitsFrom = now
	}
	if len(c.queue) == 0 {
		c.freed = 0
	}
	if l.notUntil != Never {
		c.wakeAt, c.swept = min(c.wakeAt, l.notUntil), 0
	}
	t := l.turn(parked)
	c.queue.add(l)
	return Step{Kind: DoWait, Ticket: t, Deadline: l.waitsFrom.Add(c.cfg.MaxWait)}
}

// displace refuses the last request of a full queue if l goes before it by its
// priority: Wake hands the refusal out.
func (c *Core) displace(l *life) bool {
	if len(c.queue) == 0 {
		return false
	}
	last := c.queue[len(c.queue)-1]
	if last.req.Priority >= l.req.Priority {
		return false
	}
	c.displaced = append(c.displaced, c.refuse(last, Refusal{
		Code: QueueFull, Reason: "a request of higher priority took its place in the full queue", RetryAfter: c.queueTime(),
	}))
	return true
}

const (
	leastQueueTime = time.Second
	mostQueueTime  = time.Minute
)

// queueTime is when to come back to the queue, to the whole second; 0 if that is
// unknown.
func (c *Core) queueTime() time.Duration {
	seconds := math.Ceil(c.expects(len(c.queue) + 1))
	if seconds == 0 {
		return 0
	}
	return time.Duration(min(max(seconds, leastQueueTime.Seconds()), mostQueueTime.Seconds())) * time.Second
}

// expects is how long n requests take to go, in seconds: by Little's law workers
// end load/latency requests a second. 0 if the latency of one that is busy is not
// known.
func (c *Core) expects(n int) float64 {
	perSecond := 0.0
	for _, w := range c.workers {
		if w.info.Down || w.load() == 0 {
			continue
		}
		latency, ok := w.latency.Value()
		if !ok || latency <= 0 {
			return 0
		}
		perSecond += float64(w.load()) / latency
	}
	if perSecond == 0 {
		return 0
	}
	return float64(n) / perSecond
}

// Wake takes the first waiting request that can go on and returns its next
// step, which the driver hands to whoever waits for Step.Ticket.ID. Call it
// until it returns false, after every call that may free a worker (Finish, Retry,
// Dispatched, SetFleet, Import, DropPeer and Tick) or park a request. When nothing has
// changed it costs nothing. A request that a strategy made wait for an unknown
// time goes when a place at a worker becomes free, one for each, or after 50 ms.
func (c *Core) Wake(now Time) (step Step, ok bool) {
	if n := len(c.displaced); n > 0 {
		step, c.displaced = c.displaced[n-1], c.displaced[:n-1]
		return step, true
	}
	c.resume(now)
	if c.settled && now < c.wakeAt {
		return step, false
	}
	c.settled, c.wakeAt = true, math.MaxInt64
	if c.totals.open == 0 && c.swept == c.fleet {
		return Step{}, false // none can go, and none lost its last worker
	}
	c.stuck = c.stuck[:0]
	for _, l := range c.queue {
		early := l.notUntil > now
		if early && (c.freed == 0 || !l.eager) {
			c.wakeAt = min(c.wakeAt, l.notUntil)
			continue
		}
		if c.canGo(l) {
			if early {
				c.freed--
			}
			c.settled = false
			c.queue.remove(l)
			l.restart("")
			c.advance(now, l, &step)
			return step, true
		}
	}
	if c.freed = 0; c.wakeAt == math.MaxInt64 {
		c.swept = c.fleet
	}
	return Step{}, false
}

// canGo reports whether a woken life would get further than the queue. Of the
// lives that want the same and have tried nothing, it looks at one per Wake.
func (c *Core) canGo(l *life) bool {
	if len(l.tried) == 0 && slices.Contains(c.stuck, l.req.Adapter) {
		return false
	}
	anyUp := false
	for _, w := range c.workers {
		if c.eligible(w, l) {
			return true
		}
		anyUp = anyUp || c.serves(w, l) && !l.hasTried(w) && !w.pause.on
	}
	if anyUp && len(l.tried) == 0 {
		c.stuck = append(c.stuck, l.req.Adapter)
	}
	return !anyUp // nothing to wait for: let it be refused
}
