package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/http1"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/upstream"
	"gatewayd/pkg/router"
)

// try is what became of one attempt at a worker.
type try struct {
	retry   bool           // nothing reached the client: another worker may be tried
	outcome router.Outcome // of the request, unless it is tried again
	refused bool           // the worker refused the request: that says nothing about the worker
	usage   router.Usage
	failure *apiError
	held    *upstream.Response // an error answer that is relayed if nobody else answers
	cancel  context.CancelCauseFunc

	result telemetry.AttemptResult
	says   fleet.Outcome // about the worker
	speaks bool          // whether it says anything
}

// discard releases a held answer.
func (t *try) discard() {
	if t.held != nil {
		t.held.Body.Close()
	}
	if t.cancel != nil {
		t.cancel(nil)
	}
}

// ending is what the pool is told of the request.
func (t *try) ending() router.Ending {
	if t.refused {
		return router.Ending{Outcome: router.Refused}
	}
	return router.Ending{Outcome: t.outcome, Usage: t.usage}
}

// try sends the request to the assigned worker, relays its answer and fills in t, which is
// zero, what became of that.
func (x *exchange) try(ctx context.Context, a *pool.Assignment, t *try) {
	member := x.member(a.Worker())
	if member == nil {
		t.retry, t.failure = true, upstreamError("worker_gone", "the worker has left the fleet", http.StatusBadGateway)
		return
	}
	cancel := x.stop // where no time limit of the attempt's own can end before its answer begins
	var over context.CancelCauseFunc
	if x.peeked.stream {
		ctx, cancel = context.WithCancelCause(ctx)
		over = cancel
	}
	s := &sending{x: x, member: member, header: x.outgoing(a, member), watch: watch{cancel: cancel}}
	defer s.watch.stop()
	ctx, span := x.telemetry.StartAttempt(ctx, x.describe(a, member), &s.header)
	began := time.Now()
	s.asked = began
	resp, err := x.send(ctx, s)

	switch {
	case err != nil:
		x.unanswered(ctx, err, t)
	case retryable(resp.StatusCode):
		s.watch.stop()
		t.retry, t.held, t.cancel = true, resp, over
		t.failure = upstreamError("worker_unavailable", "the worker answered "+resp.Status, resp.StatusCode)
		if t.refused = resp.StatusCode == http.StatusTooManyRequests; t.refused {
			x.paused(a, resp.Header)
		}
		t.result.Status, t.result.Outcome, t.result.ErrorType = resp.StatusCode, telemetry.AttemptStatus, strconv.Itoa(resp.StatusCode)
		t.says, t.speaks = fleet.Broken, !t.refused
	case !final(resp.StatusCode):
		resp.Body.Close()
		t.retry, t.failure = true, upstreamError("worker_redirects", "the worker answered "+resp.Status+", which is no answer to a request for inference", http.StatusBadGateway)
		t.result.Status, t.result.Outcome = resp.StatusCode, telemetry.AttemptStatus
		t.says, t.speaks = fleet.Broken, true
	default:
		x.relay(ctx, s, a, resp, t)
	}
	x.conclude(t, member.ID, time.Since(began), span)
	if t.held == nil && over != nil {
		over(nil)
	}
}

// conclude tells the fleet, the metrics and the span how the attempt ended.
func (x *exchange) conclude(t *try, worker string, took time.Duration, span telemetry.AttemptSpan) {
	if t.failure != nil && t.result.ErrorType == "" {
		t.result.ErrorType = t.failure.code
	}
	if t.speaks {
		x.workers.Report(worker, t.says)
	}
	w := x.telemetry.Metrics.Worker(worker)
	w.Attempt(t.result.Outcome)
	if t.result.HasUsage {
		w.Used(t.result.Usage)
	}
	x.inference().AttemptDone(took, t.result.ErrorType)
	span.End(t.result)
}

// outgoing returns the header fields that the worker gets: most often no more than came.
func (x *exchange) outgoing(a *pool.Assignment, member *fleet.Member) http1.Header {
	header := forward(make(http1.Header, 0, len(x.r.Header)+moreFields), x.r.Header, true)
	header.Add(requestIDField, x.id)
	member.Decorate(&header)
	if rank := a.Rank(); rank > 0 && header.Get("X-Data-Parallel-Rank") == "" { // a worker that is a rank has said so
		header.Set("X-Data-Parallel-Rank", strconv.Itoa(rank-1))
	}
	return header
}

// moreFields is for how many header fields there is room at first, beside the client's.
const moreFields = 4

func (x *exchange) describe(a *pool.Assignment, m *fleet.Member) telemetry.Attempt {
	return telemetry.Attempt{
		Operation: x.op.name, Provider: provider, Model: m.NameOf(x.model), Stream: x.peeked.stream, MaxTokens: x.peeked.maxTokens,
		Worker: m.ID, URL: m.URL, Number: a.Receipt().Attempt,
	}
}

// member finds the worker among the fleet's; nil if it has left.
func (x *exchange) member(ref router.WorkerRef) *fleet.Member {
	snapshot := x.workers.Snapshot()
	pool, _, _ := snapshot.Lookup(x.model)
	members := snapshot.Pools()[pool]
	i, ok := slices.BinarySearchFunc(members, ref.ID, func(m fleet.Member, id string) int { return strings.Compare(m.ID, id) })
	if !ok {
		return nil
	}
	return &members[i]
}

// retryable reports whether the status says that another worker may do better.
func retryable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// final reports whether the status ends a request. A redirect would lead the
// client around the gateway, and a switch of protocols out of it.
func final(status int) bool {
	return status >= http.StatusOK && status < http.StatusMultipleChoices || status >= http.StatusBadRequest
}

// unanswered says what a failed send means.
func (x *exchange) unanswered(ctx context.Context, err error, t *try) {
	cause := context.Cause(ctx)
	timeout := timedOut(cause)
	if cause != nil && timeout == nil {
		t.outcome, t.result.Outcome, t.result.ErrorType = router.Cancelled, telemetry.AttemptCancelled, "cancelled"
		return
	}
	t.retry, t.says, t.speaks = true, fleet.Broken, true
	if timeout != nil {
		t.failure, t.result.Outcome = timeout, telemetry.AttemptTimeout
		if notTheWorkers(cause) { // no time for another worker, and perhaps not this one's fault
			t.retry, t.speaks, t.outcome = false, false, router.Failed
			x.fail(timeout)
		}
		return
	}
	t.result.Outcome = telemetry.AttemptBroken
	t.failure = upstreamError("worker_unreachable", "the connection to the worker broke before it answered", http.StatusBadGateway)
	if http1.Malformed(err) {
		t.failure = upstreamError("worker_unreadable", "the worker's answer cannot be read: "+strings.TrimPrefix(err.Error(), "http1: "), http.StatusBadGateway)
	}
	if says, ok := unreachable(err); ok {
		t.says, t.result.Outcome = says, telemetry.AttemptConnect
		t.failure.message = "no connection to the worker could be made"
		if tooLate(err) {
			t.failure = upstreamError("timeout_connect", "no connection to the worker could be made within timeouts.connect", http.StatusGatewayTimeout)
		}
	}
}
