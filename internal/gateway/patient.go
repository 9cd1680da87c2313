package gateway

import (
	"time"

	"gatewayd/internal/downstream"
)

// patient is a response whose client has a limited time to take each part of
// it. Without one, a client that reads nothing would keep a worker's slot.
type patient struct {
	downstream.Writer
	stall   time.Duration
	renewed time.Time
	last    time.Time // nothing is written behind it
}

// patient bounds how long the client may leave the gateway waiting, in both
// directions. Where that is not possible, nothing is bounded.
func (s *Server) patient(w downstream.Writer, r *downstream.Request) *patient {
	now := r.Arrived
	p := &patient{Writer: w, stall: s.pace.stall, last: now.Add(s.cfg.Timeouts.Total + s.pace.end)}
	if r.Length != 0 {
		_ = w.SetReadDeadline(now.Add(s.pace.grace))
	}
	p.renew(now)
	return p
}

// renew gives the client its time again, but for a small part that is not worth it. One
// that takes its answer slowly gets it no longer than the request may take.
func (p *patient) renew(now time.Time) {
	if now.Sub(p.renewed) > p.stall/64 {
		p.renewed = now
		due := now.Add(p.stall)
		if due.After(p.last) {
			due = p.last
		}
		_ = p.SetWriteDeadline(due)
	}
}

// Write passes bytes on.
func (p *patient) Write(b []byte) (int, error) {
	p.renew(time.Now())
	return p.Writer.Write(b)
}

// Flush sends what was written.
func (p *patient) Flush() error {
	p.renew(time.Now())
	return p.Writer.Flush()
}
