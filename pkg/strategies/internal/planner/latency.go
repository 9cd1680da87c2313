package planner

import "gatewayd/pkg/router"

// Observed returns an observed figure that cannot be 0, such as a latency or a
// carbon intensity. A 0 is taken for one that nobody filled in.
func Observed(g router.Gauge) (value float64, ok bool) {
	if !g.Known() || g.Value <= 0 {
		return 0, false
	}
	return g.Value, true
}

// Latencies returns the observed request latency of each worker in seconds, the
// mean of the others where there is none, and how many were observed. If none
// was, all are 0.
func Latencies(workers []router.Worker) (seconds []float64, observed int) {
	seconds = make([]float64, len(workers))
	sum := 0.0
	for i, w := range workers {
		if s, ok := Observed(w.Load.Latency); ok {
			seconds[i] = s
			sum += s
			observed++
		}
	}
	for i, s := range seconds {
		if s == 0 && observed > 0 {
			seconds[i] = sum / float64(observed)
		}
	}
	return seconds, observed
}
