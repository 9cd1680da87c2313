package main

import (
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/trace"
)

// traffic is a trace and how it is reshaped for each seed.
type traffic struct {
	input
	rows     int // 0: all
	scale    float64
	sessions trace.Superposition // of traces without a clock
}

// readSessions reads the flags that speak of sessions.
func (t *traffic) readSessions(c *cli.Context) error {
	n := c.Int("sessions")
	window, think := c.Duration("session-window"), c.Duration("max-think")
	switch {
	case n < 0:
		return usage("--sessions %d: give a number of sessions, 0 for all", n)
	case window <= 0:
		return usage("--session-window %v: give a positive time", window)
	case think < 0:
		return usage("--max-think %v: give a positive time, 0 for no limit", think)
	case t.rows > 0 && !t.trace.Clock && t.trace.Scope == trace.ScopeSession:
		return usage("--requests: the sessions of %s have no common clock, so seeds would use different rows; give --sessions", t.trace.Name)
	}
	if t.trace.Clock || t.trace.Scope != trace.ScopeSession {
		for _, name := range []string{"session-window", "max-think", "sessions-apart"} {
			if c.IsSet(name) {
				return usage("--%s is for sessions without a common clock, and %s has one", name, t.trace.Name)
			}
		}
	}
	if n > 0 {
		// The same sessions for all seeds.
		const drawn = 1
		t.trace = t.trace.InferSessions(0).CutSessions(n, drawn)
	}
	t.sessions = trace.Superposition{Window: window, MaxThink: think, Apart: c.Bool("sessions-apart")}
	return nil
}

// timing is what --timing says; else requests come as recorded, or by sessions
// where no clock was common to them and their follow-ups are known.
func (t *traffic) timing(c *cli.Context) string {
	follows := func(r trace.Request) bool { return len(r.After) > 0 }
	if c.IsSet("timing") || t.trace.Clock || !slices.ContainsFunc(t.trace.Requests, follows) {
		return c.String("timing")
	}
	return sim.Sessions.String()
}

// prepared is the traffic of one seed.
type prepared struct {
	seed    uint64
	trace   *trace.Trace
	outline *sim.Outline
}

// prepare draws the traffic of a seed. Rows and lengths are the same for all
// seeds.
func (t *traffic) prepare(seed uint64) (*prepared, error) {
	out := t.trace.Prepare(trace.Preparation{Seed: seed, Sessions: t.sessions})
	if t.rows > 0 {
		out = out.Cut(t.rows)
	}
	if t.scale != 1 {
		var err error
		if out, err = out.Scale(t.scale); err != nil {
			return nil, usage("--rate-scale: %w", err)
		}
	}
	return &prepared{seed, out, sim.NewOutline(out)}, nil
}

// sessions are the session numbers of the requests.
func (p *prepared) sessions() []uint64 {
	out := make([]uint64, len(p.trace.Requests))
	for i := range out {
		out[i] = p.trace.Requests[i].Session
	}
	return out
}

// shared prepares the traffic of each seed once, for as many uses as are known
// beforehand, and forgets it after the last one.
type shared struct {
	traffic *traffic
	seeds   []uint64
	uses    int

	mutex sync.Mutex
	ready map[int]*use
}

type use struct {
	once sync.Once
	*prepared
	err  error
	left int
}

// take returns the traffic of seed number i.
func (s *shared) take(i int) (*prepared, error) {
	s.mutex.Lock()
	if s.ready == nil {
		s.ready = map[int]*use{}
	}
	u := s.ready[i]
	if u == nil {
		u = &use{left: s.uses}
		s.ready[i] = u
	}
	if u.left--; u.left == 0 {
		delete(s.ready, i)
	}
	s.mutex.Unlock()
	u.once.Do(func() { u.prepared, u.err = s.traffic.prepare(s.seeds[i]) })
	return u.prepared, u.err
}

// rate is the offered requests per second; 0 if all arrive at once.
func (p *prepared) rate() float64 {
	all := p.trace.Requests
	if span := (all[len(all)-1].At - all[0].At).Seconds(); span > 0 {
		return float64(len(all)) / span
	}
	return 0
}

// size is the number of requests.
func (t *traffic) size() int {
	if n := len(t.trace.Requests); t.rows == 0 || n < t.rows {
		return n
	}
	return t.rows
}
