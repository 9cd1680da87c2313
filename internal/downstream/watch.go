package downstream

import (
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long it may take until a client's leave is seen while it waits.
const patience = 400 * time.Millisecond

// watch looks after the clients that wait for an answer.
func (s *Server) watch() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	var all []*conn
	for {
		select {
		case <-tick.C:
		case <-s.ended:
			s.mu.Lock()
			none := s.none
			s.mu.Unlock()
			select {
			case <-tick.C:
			case <-none:
				return
			}
		}
		s.mu.Lock()
		for c := range s.conns {
			all = append(all, c)
		}
		s.mu.Unlock()
		for _, c := range all {
			c.look()
		}
		clear(all)
		all = all[:0]
	}
}

// look ends the context if the client has left, also behind requests that it has sent
// ahead. It does not wait, and it takes nothing from what the client has sent, but over TLS,
// which has to be read.
func (c *conn) look() {
	if c.raw == nil || c.state.Load() != active {
		return
	}
	var events, came int16 = left, 0
	if c.request.TLS {
		events |= unix.POLLIN
	}
	_ = c.raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: events}}
		if _, err := unix.Poll(p, 0); err == nil {
			came = p[0].Revents
		}
	})
	if came&^unix.POLLIN != 0 { // what was not asked for is a reset or an error
		c.gone()
	} else if c.request.TLS {
		c.listen(came != 0)
	}
}
