// Package rank makes the answers of strategies that route: a short ranking of
// workers, for a retry or two.
package rank

import "gatewayd/pkg/router"

// Places is how many workers a ranking names: as many as a request is tried at.
const Places = 3

// Best ranks the workers 0..n-1 by before, which must be a strict order; equal
// ones keep their order. It names at most Places of them.
func Best(n int, before func(a, b int) bool) []router.Placement {
	ranking := make([]router.Placement, 0, Places+1)
	for w := range n {
		at := len(ranking)
		for at > 0 && before(w, ranking[at-1].Worker) {
			at--
		}
		if at == Places {
			continue
		}
		ranking = append(ranking, router.Placement{})
		copy(ranking[at+1:], ranking[at:])
		ranking[at] = router.Placement{Worker: w}
		ranking = ranking[:min(len(ranking), Places)]
	}
	return ranking
}

// First moves a worker to the front of a ranking, which may not name it yet.
func First(worker int, ranking []router.Placement) []router.Placement {
	out := append(make([]router.Placement, 0, len(ranking)+1), router.Placement{Worker: worker})
	for _, p := range ranking {
		if p.Worker != worker && len(out) < Places {
			out = append(out, p)
		}
	}
	return out
}

// Route is the decision to send a request to the first usable worker of a
// ranking.
func Route(reason string, ranking []router.Placement) router.Decision {
	return router.Decision{Verdict: router.Route, Ranking: ranking, Reason: reason}
}
