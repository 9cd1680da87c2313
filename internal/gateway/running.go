package gateway

import (
	"sync"
	"time"
)

// running is the list of the requests that run, the oldest first. One timer watches
// over the time of all of them.
type running struct {
	limit time.Duration // of a request's time

	mu          sync.Mutex
	first, last *exchange
	timer       *time.Timer   // nil: nobody's time is measured
	idle        chan struct{} // closed when there are none; nil: nobody waits for that
	stopped     bool
}

// enter adds a request.
func (l *running) enter(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.before = l.last; l.last == nil {
		l.first = x
	} else {
		l.last.next = x
	}
	if l.last = x; l.stopped {
		x.stop(errStop)
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(x.start.Add(l.limit)), l.strike)
	}
}

// leave takes a request out.
func (l *running) leave(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, next := x.before, x.next
	x.before, x.next = nil, nil // whoever holds on to one holds on to no other
	if next == nil {
		l.last = before
	} else {
		next.before = before
	}
	if before == nil {
		l.first = next
	} else {
		before.next = next
	}
	if l.first == nil && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// strike ends the requests whose time is up.
func (l *running) strike() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	for x := l.first; x != nil; x = x.next {
		if left := time.Until(x.start.Add(l.limit)); left > 0 {
			l.timer = time.AfterFunc(left, l.strike)
			return
		}
		x.stop(errTotal)
	}
}

// stop ends all requests that run, and those that come later.
func (l *running) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for x := l.first; x != nil; x = x.next {
		x.stop(errStop)
	}
}

// none returns a channel that is closed once no request runs.
func (l *running) none() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := l.idle
	if idle == nil {
		idle = make(chan struct{})
	}
	if l.first == nil {
		close(idle)
		return idle
	}
	l.idle = idle
	return idle
}

// rest stops the timer, if it has nobody to watch over.
func (l *running) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil && l.timer != nil && l.timer.Stop() {
		l.timer = nil
	}
}
