package weighted

import "gatewayd/pkg/router"

const (
	longQueue  = 128       // requests at which the load scorer gives 0
	manyTokens = 4_194_304 // waiting tokens at which the tokens scorer gives 0
)

// prefix is the share of the prompt that is cached.
func prefix(_ *weighted, in router.Input, scores []float64) {
	for i := range scores {
		scores[i] = 0
		if in.Request.PromptTokens > 0 {
			scores[i] = float64(in.Cached[i]) / float64(in.Request.PromptTokens)
		}
	}
}

// queue is 1 for the shortest queue and 0 for the longest.
func queue(_ *weighted, in router.Input, scores []float64) {
	figures(in.Workers, scores, func(l *router.Load) router.Gauge { return l.Waiting })
	spread(scores)
}

// running is 1 for the fewest running requests and 0 for the most.
func running(_ *weighted, in router.Input, scores []float64) {
	figures(in.Workers, scores, func(l *router.Load) router.Gauge { return l.Running })
	spread(scores)
}

// figures are observed figures of the workers, or, unless all are known, the
// requests in flight: figures of two kinds must not be compared.
func figures(workers []router.Worker, out []float64, gauge func(*router.Load) router.Gauge) {
	known := true
	for i := range workers {
		g := gauge(&workers[i].Load)
		out[i], known = g.Value, known && g.Known()
	}
	if known {
		return
	}
	for i := range workers {
		out[i] = float64(workers[i].Load.InFlight)
	}
}

// spread turns figures into scores: the least 1, the greatest 0, all 1 if they
// are equal.
func spread(figures []float64) {
	low, high := figures[0], figures[0]
	for _, f := range figures {
		low, high = min(low, f), max(high, f)
	}
	for i, f := range figures {
		if figures[i] = 1; high > low {
			figures[i] = (high - f) / (high - low)
		}
	}
}

// kvFree is the free share of the KV cache; where it is unknown, the mean of the
// known ones.
func kvFree(_ *weighted, in router.Input, scores []float64) {
	sum, known := 0.0, 0.0
	for i := range in.Workers {
		if g := in.Workers[i].Load.KVUsed; g.Known() {
			sum, known = sum+g.Value, known+1
		}
	}
	mean := sum / max(1, known)
	for i := range in.Workers {
		used := mean
		if g := in.Workers[i].Load.KVUsed; g.Known() {
			used = g.Value
		}
		scores[i] = 1 - min(1, max(0, used))
	}
}

// load is a half for an empty queue and 0 for a long one.
func load(_ *weighted, in router.Input, scores []float64) {
	figures(in.Workers, scores, func(l *router.Load) router.Gauge { return l.Waiting })
	for i, waiting := range scores {
		scores[i] = 0.5 * (1 - min(1, waiting/longQueue))
	}
}

// waitingTokens is 1 without uncached prompt tokens in the queue.
func waitingTokens(_ *weighted, in router.Input, scores []float64) {
	for i := range in.Workers {
		scores[i] = 1 - min(1, float64(in.Workers[i].Load.QueuedTokens)/manyTokens)
	}
}

// cold reports whether nothing of the prompt is cached anywhere.
func cold(in router.Input) bool {
	for _, cached := range in.Cached {
		if cached > 0 {
			return false
		}
	}
	return true
}
