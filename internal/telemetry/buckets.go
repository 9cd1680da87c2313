package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Bucket bounds. Those of the gen_ai_* histograms are the ones that the GenAI
// semantic conventions advise, with larger ones added above: answers of
// minutes are normal here, and added bounds leave existing queries right.
var (
	// durationBuckets are 10 ms to 81.92 s, doubling, and up to 655.36 s.
	durationBuckets = prometheus.ExponentialBuckets(0.01, 2, 17)
	ttftBuckets     = []float64{
		0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
		20, 40, 80, 160,
	}
	tpotBuckets  = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
	tokenBuckets = prometheus.ExponentialBuckets(1, 4, 14)

	// overheadBuckets resolve well below a millisecond: 10 us to 1 s.
	overheadBuckets = []float64{
		0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1,
	}
	pickBuckets  = []float64{0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1}
	queueBuckets = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}
	planBuckets  = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	syncBuckets  = []float64{0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}
)
