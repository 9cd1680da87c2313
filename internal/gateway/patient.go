package gateway

import (
	"net/http"
	"time"
)

// patient is a response whose client has a limited time to take each part of
// it. Without one, a client that reads nothing would keep a worker's slot.
type patient struct {
	http.ResponseWriter
	control http.ResponseController
	stall   time.Duration
	began   time.Time
	renewed time.Time
	last    time.Time // nothing is written behind it
}

// patient bounds how long the client may leave the gateway waiting, in both
// directions. Where that is not possible, nothing is bounded.
func (s *Server) patient(w http.ResponseWriter, r *http.Request) *patient {
	now := time.Now()
	p := &patient{ResponseWriter: w, control: *http.NewResponseController(w), stall: s.pace.stall, began: now, last: now.Add(s.cfg.Timeouts.Total + s.pace.end)}
	if r.ContentLength != 0 {
		_ = p.control.SetReadDeadline(now.Add(s.pace.grace))
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
		_ = p.control.SetWriteDeadline(due)
	}
}

// Write passes bytes on.
func (p *patient) Write(b []byte) (int, error) {
	p.renew(time.Now())
	return p.ResponseWriter.Write(b)
}

// FlushError sends what was written.
func (p *patient) FlushError() error {
	p.renew(time.Now())
	return p.control.Flush()
}

// Unwrap returns the response, for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
