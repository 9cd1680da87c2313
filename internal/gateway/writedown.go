package gateway

import (
	"net/http"
	"time"

	"gatewayd/internal/record"
	"gatewayd/pkg/router"
)

// BlockBytes is the length of the blocks that prompts are cut into, in bytes of
// canonical text.
const BlockBytes = blockBytes

// writeDown hands the request to the recorder, if there is one. It never waits. A
// request that could not be read, or asked for a model that nobody serves, is no
// traffic.
func (x *exchange) writeDown() {
	if x.recorder == nil || x.affinity.key == 0 {
		return
	}
	e := &record.Entry{
		Arrived: x.start, First: x.first, Ended: time.Now(),
		Model: x.model, Tenant: x.recorder.Tenant(x.r.Header.Get("Authorization")), Key: x.affinity.key, Stream: x.peeked.stream, Priority: x.class,
		Bytes: x.affinity.bytes, Blocks: x.affinity.blocks,
		Prompt: x.usage.PromptTokens, Output: x.usage.OutputTokens, Cached: x.usage.CachedTokens,
		Outcome: x.outcome.String(), Status: x.status, Worker: x.worker, Attempts: x.attempts,
	}
	if !x.counted {
		e.Cached = -1
	}
	if e.Prompt == 0 {
		e.Prompt, e.Estimated = x.estimate, true
	}
	if x.outcome == router.Completed && x.status >= http.StatusBadRequest {
		e.Outcome = router.Refused.String() // by the worker
	}
	x.recorder.Take(e)
}
