package energy

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/row"
)

// limit predicts the time to first token at each worker, in seconds: the prompt
// tokens queued there and those of this request at the prefill rate, and a share
// of the target for each request in flight, so that a full batch fills it.
// Workers above the target are used only when all are, the best one first.
func (c config) limit(workers []router.Worker) router.Row {
	perRequest := make([]float64, len(workers))
	for i, w := range workers {
		perRequest[i] = c.ttft / c.batch
		if w.Concurrency > 0 {
			perRequest[i] = c.ttft / float64(w.Concurrency)
		}
	}
	return router.Row{
		row.Same(router.QueuedTokens, 1/c.prefill),
		row.Same(router.Uncached, 1/c.prefill),
		row.Each(router.InFlight, perRequest),
	}
}
