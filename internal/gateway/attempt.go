package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
)

// try is what became of one attempt at a worker.
type try struct {
	retry   bool // nothing reached the client: another worker may be tried
	outcome router.Outcome
	usage   router.Usage
	failure *apiError
	held    *http.Response // an error answer that is relayed if nobody else answers
	cancel  context.CancelCauseFunc
}

// discard releases a held answer.
func (t try) discard() {
	if t.held != nil {
		t.held.Body.Close()
	}
	if t.cancel != nil {
		t.cancel(nil)
	}
}

var (
	errHead  = errors.New("the worker sent no response head within timeouts.response_head")
	errFirst = errors.New("the worker sent no token within timeouts.first_token")
	errGap   = errors.New("the worker was silent for timeouts.token_gap")
)

// try sends the request to the assigned worker and relays its answer.
func (x *exchange) try(ctx context.Context, a *pool.Assignment) try {
	ctx, cancel := context.WithCancelCause(ctx)
	start := time.Now()
	member, ok := x.member(a.Worker())
	if !ok {
		cancel(nil)
		return try{retry: true, failure: upstreamError("worker_gone", "the worker has left the fleet", http.StatusBadGateway)}
	}
	header := forwardable(x.r.Header, true)
	header.Del("Accept-Encoding") // usage is read from the answer
	header.Set("X-Request-Id", x.id)
	member.Decorate(header)
	if rank := a.Rank(); rank > 0 {
		header.Set("X-Data-Parallel-Rank", strconv.Itoa(rank-1))
	}
	ctx, span := x.telemetry.StartAttempt(ctx, x.describe(a, member), header)
	resp, err := x.send(ctx, cancel, member, header)
	w := x.telemetry.Metrics.Worker(member.ID)
	inference := x.telemetry.Metrics.Inference(string(x.op), provider, x.peeked.model)

	var t try
	var result telemetry.AttemptResult
	switch {
	case err != nil:
		t, result = x.unanswered(ctx, err)
	case retryable(resp.StatusCode):
		t = try{retry: true, held: resp, failure: upstreamError("worker_unavailable", "the worker answered "+resp.Status, resp.StatusCode)}
		result = telemetry.AttemptResult{Status: resp.StatusCode, Outcome: telemetry.AttemptStatus}
	default:
		t, result = x.relay(ctx, cancel, a, resp, start, inference)
	}
	if t.failure != nil && result.ErrorType == "" {
		result.ErrorType = t.failure.code
	}
	x.report(member.ID, result)
	w.Attempt(result.Outcome)
	if result.HasUsage {
		w.Used(result.Usage)
	}
	inference.AttemptDone(since(start), result.ErrorType)
	span.End(result)
	if t.held == nil {
		cancel(nil)
	} else {
		t.cancel = cancel
	}
	return t
}

func (x *exchange) describe(a *pool.Assignment, m fleet.Member) telemetry.Attempt {
	port, _ := strconv.Atoi(m.URL.Port())
	return telemetry.Attempt{
		Operation: string(x.op), Provider: provider, Model: x.peeked.model, Stream: x.peeked.stream, MaxTokens: x.peeked.maxTokens,
		Worker: m.ID, Address: m.URL.Hostname(), Port: port, Number: a.Receipt().Attempt,
	}
}

// member finds the worker among the fleet's.
func (x *exchange) member(ref router.WorkerRef) (fleet.Member, bool) {
	snapshot := x.workers.Snapshot()
	pool, _, _ := snapshot.Lookup(x.peeked.model)
	members := snapshot.Pools()[pool]
	i, ok := slices.BinarySearchFunc(members, ref.ID, func(m fleet.Member, id string) int { return strings.Compare(m.ID, id) })
	if !ok {
		return fleet.Member{}, false
	}
	return members[i], true
}

// endpoint joins the worker's base URL and the API path, without doubling the
// version.
func endpoint(base *url.URL, path string) *url.URL {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") + path
	u.RawPath = ""
	return &u
}

func (o operation) path() string {
	switch o {
	case chat:
		return "/v1/chat/completions"
	case completion:
		return "/v1/completions"
	default:
		return "/v1/embeddings"
	}
}

// send makes the request. A kept-alive connection that the worker closed in the
// meantime is replaced once: nothing of the request was read then.
func (x *exchange) send(ctx context.Context, cancel context.CancelCauseFunc, m fleet.Member, header http.Header) (*http.Response, error) {
	if x.peeked.stream {
		timer := time.AfterFunc(x.cfg.Timeouts.ResponseHead, func() { cancel(errHead) })
		defer timer.Stop()
	}
	for first := true; ; first = false {
		var reused, answered bool
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn:              func(i httptrace.GotConnInfo) { reused = i.Reused },
			GotFirstResponseByte: func() { answered = true },
		})
		req := (&http.Request{
			Method: http.MethodPost, URL: endpoint(m.URL, x.op.path()), Header: header, Host: m.URL.Host,
			ContentLength: int64(len(x.body)), Body: io.NopCloser(bytes.NewReader(x.body)),
			GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil },
		}).WithContext(traced)
		req.URL.RawQuery = x.r.URL.RawQuery
		resp, err := x.transport.RoundTrip(req)
		if err == nil || !first || !reused || answered || ctx.Err() != nil {
			return resp, err
		}
	}
}

// retryable reports whether the status says that another worker may do better.
func retryable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// unanswered says what a failed send means.
func (x *exchange) unanswered(ctx context.Context, err error) (try, telemetry.AttemptResult) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errHead):
		return try{retry: true, failure: upstreamError("timeout_response_head", errHead.Error(), http.StatusGatewayTimeout)},
			telemetry.AttemptResult{Outcome: telemetry.AttemptTimeout}
	case errors.Is(cause, errTotal):
		x.fail(upstreamError("timeout_total", errTotal.Error(), http.StatusGatewayTimeout))
		return try{outcome: router.Failed, failure: x.failure}, telemetry.AttemptResult{Outcome: telemetry.AttemptTimeout}
	case cause != nil:
		return try{outcome: router.Cancelled}, telemetry.AttemptResult{Outcome: telemetry.AttemptCancelled, ErrorType: "cancelled"}
	}
	outcome := telemetry.AttemptBroken
	message := "the connection to the worker broke before it answered"
	var dial *net.OpError
	if errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dial) && dial.Op == "dial" {
		outcome, message = telemetry.AttemptConnect, "no connection to the worker could be made"
	}
	return try{retry: true, failure: upstreamError("worker_unreachable", message, http.StatusBadGateway)}, telemetry.AttemptResult{Outcome: outcome}
}

// report tells the fleet what the attempt says about the worker.
func (x *exchange) report(id string, r telemetry.AttemptResult) {
	switch {
	case r.Outcome == telemetry.AttemptConnect:
		x.workers.Report(id, fleet.Refused)
	case r.Outcome == telemetry.AttemptBroken, r.Outcome == telemetry.AttemptTimeout, r.Status >= http.StatusInternalServerError:
		x.workers.Report(id, fleet.Broken)
	case r.Status == http.StatusNotFound:
		x.workers.Report(id, fleet.Missing)
	case r.Outcome == telemetry.AttemptOK:
		x.workers.Report(id, fleet.Served)
	}
}
