package dynamo

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/row"
)

// meanPrompt and meanOutput are the lengths of a request, in tokens, until the
// pool's means are known.
const meanPrompt, meanOutput = 512, 256

// plan writes the cost as a row:
//
//	prefill * (queued + input - overlap * cached) / block    blocks to compute
//	+ in_flight * (mean prompt + mean output / 2) / block    blocks to decode with
//	+ requests * in_flight
//
// where input - overlap * cached is overlap * uncached, and a part of the prompt
// that costs the same everywhere.
func (c config) plan(in router.PlanInput) (router.Plan, error) {
	return router.Plan{Rest: router.Rest{Order: router.ByCost, Cost: router.Row{
		row.Same(router.Uncached, c.prefill*c.overlap/c.block),
		row.Same(router.QueuedTokens, c.prefill/c.block),
		row.Same(router.InFlight, c.perRequest(in.PromptTokens, in.OutputTokens)),
	}}}, nil
}

// perRequest is what a request in flight adds: the blocks that it holds, half of
// its output being generated, and the weight of a request.
func (c config) perRequest(prompt, output float64) float64 {
	if prompt <= 0 {
		prompt = meanPrompt
	}
	if output <= 0 {
		output = meanOutput
	}
	return (prompt+output/2)/c.block + c.requests
}
