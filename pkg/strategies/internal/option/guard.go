package option

import "gatewayd/pkg/router"

// Guards are the options of a guard on the requests in flight: worker w is
// skipped iff in_flight + 1 > max(slack, factor * (total + 1) / n).
//
// The factor is the usual one of consistent hashing with bounded loads. The
// slack is a batch knee: an engine that runs 16 sequences at once serves each
// of them nearly as fast as one alone, so leaving a warm cache below that load
// loses more than it gains.
func Guards() []router.Option {
	return []router.Option{
		{Name: "factor", Default: "1.25", Help: "skip a worker above this multiple of the mean load; 0 = never"},
		{Name: "slack", Default: "16", Help: "never skip a worker with fewer requests in flight than this"},
	}
}

// Guard reads the options of Guards.
func (s *Set) Guard() router.Guard {
	g := router.Guard{Of: router.InFlight, Factor: s.Float("factor", 0, 1000), Slack: s.Float("slack", 0, 1e6)}
	if g.Factor > 0 && g.Factor < 1 {
		s.fail("factor", "%v is below the mean load; give 0 for no guard, or 1 or more", g.Factor)
	}
	return g
}
