// Package row has the cost rows that more than one strategy needs.
package row

import "gatewayd/pkg/router"

// Same is a term with one weight for all workers.
func Same(f router.Feature, weight float64) router.Term {
	return router.Term{Feature: f, Weights: []float64{weight}}
}

// Each is a term with one weight per worker of the plan.
func Each(f router.Feature, weights []float64) router.Term {
	return router.Term{Feature: f, Weights: weights}
}

// InFlight counts the requests in flight.
func InFlight() router.Row { return router.Row{Same(router.InFlight, 1)} }

// Busyness is 4 * in_flight + 0.1 * queued_tokens, the load figure of
// eoc-distributed, times a scale.
func Busyness(scale float64) router.Row {
	return router.Row{Same(router.InFlight, 4*scale), Same(router.QueuedTokens, 0.1*scale)}
}
