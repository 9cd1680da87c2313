package router

import (
	"math"
	"time"
)

// A worker that refuses a request because it has too much to do pauses for as long as
// it asks, or else for assumedPause. At most it pauses for longestPause, and then up
// to a quarter more, so that workers, and gateways at one worker, do not come back
// together.
const (
	assumedPause = time.Second
	longestPause = time.Minute
)

// pause is the time in which a worker gets no request of this gateway. The zero
// pause is over.
type pause struct {
	on    bool
	asked bool // by the worker: otherwise it ends early if there is no other worker
	until Time // when it ends, or ended
	room  int  // requests that it may have since the pause, until one is served; 0: no limit
}

// admits reports whether a worker with so many requests may get one more.
func (p *pause) admits(inFlight int) bool {
	return !p.on && (p.room == 0 || inFlight < p.room)
}

// Pause reports that the worker refused the attempt because it has too much to do
// (status 429), and for how long it asks to be left alone; 0 if it does not say. It
// does so beside Retry or Finish, and before them.
func (c *Core) Pause(now Time, t Ticket, asked time.Duration) {
	l := c.life(t, running)
	if l == nil || l.worker.slot < 0 {
		return
	}
	c.resume(now)
	w, lasts := l.worker, min(asked, longestPause)
	switch {
	case lasts > 0:
	case w.pause.on:
		return // known
	default:
		lasts = assumedPause
	}
	lasts += time.Duration(float64(lasts/4) * float64(Mix(l.seed^w.idHash)) / math.MaxUint64)
	until := now.Add(lasts)
	if w.pause.on {
		until = max(until, w.pause.until)
	}
	w.pause = pause{on: true, asked: w.pause.asked && w.pause.on || asked > 0, until: until}
	c.pausesChanged()
}

// pausesChanged counts afresh who is open, and has the queue looked at.
func (c *Core) pausesChanged() {
	c.pausedUntil = math.MaxInt64
	for _, w := range c.workers {
		if w.pause.on {
			c.pausedUntil = min(c.pausedUntil, w.pause.until)
		}
	}
	c.recount()
	c.settled, c.swept = false, 0
}

// resume ends the pauses that are over.
func (c *Core) resume(now Time) {
	if now < c.pausedUntil {
		return
	}
	for _, w := range c.workers {
		if w.pause.on && w.pause.until <= now {
			w.resume()
		}
	}
	c.pausesChanged()
}

// resume lets the worker have one more request, and further ones once it has been
// served.
func (w *worker) resume() { w.pause.on, w.pause.room = false, w.inFlight+1 }

// proved takes in that the worker serves a request: it has enough room again if it
// got the request after its pause.
func (c *Core) proved(l *life) {
	if p := &l.worker.pause; p.room != 0 && l.dispatched >= p.until {
		p.room = 0
		c.pausesChanged()
	}
}

// rouse ends the pause of a worker that has not asked for it, if all workers that
// could serve the request pause, and reports whether the request has a worker now.
func (c *Core) rouse(now Time, l *life) bool {
	var first *worker
	for _, w := range c.workers {
		switch {
		case !c.serves(w, l) || l.hasTried(w):
		case !w.pause.on:
			return false
		case !w.pause.asked && (first == nil || w.pause.until < first.pause.until):
			first = w
		}
	}
	if first == nil {
		return false
	}
	first.pause.until = now
	first.resume()
	c.pausesChanged()
	l.candidates = c.eligibleCount(l)
	return l.candidates > 0
}

// PausedFor returns how long the worker still pauses; 0 if it does not.
func (c *Core) PausedFor(now Time, id string) time.Duration {
	i := c.slot(id)
	if i < 0 || !c.workers[i].pause.on {
		return 0
	}
	return max(0, c.workers[i].pause.until.Sub(now))
}
