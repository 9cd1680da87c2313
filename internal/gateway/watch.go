package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// phase is how far an attempt has come.
type phase uint8

const (
	connecting phase = iota // until the request is sent
	waiting                 // until the head of the answer
	headed                  // until the first token
	flowing                 // until the end of a stream
	ending                  // behind the end of a stream
)

// The limits that an attempt can run into; the messages are for the client.
var (
	errHead  = errors.New("the worker sent no response head within timeouts.response_head")
	errFirst = errors.New("the worker sent no token within timeouts.first_token")
	errGap   = errors.New("the worker was silent for timeouts.token_gap")
	errTotal = errors.New("the request took longer than timeouts.total")
	errDone  = errors.New("the worker kept a finished stream open")
	errStop  = errors.New("the gateway is shutting down")
)

var limits = []struct {
	err  error
	code string
}{{errHead, "timeout_response_head"}, {errFirst, "timeout_first_token"}, {errGap, "timeout_token_gap"}, {errTotal, "timeout_total"}}

// timedOut returns the error for the client if a limit of the gateway, or its
// end, was the cause of the end, nil otherwise.
func timedOut(cause error) *apiError {
	for _, l := range limits {
		if errors.Is(cause, l.err) {
			return upstreamError(l.code, l.err.Error(), http.StatusGatewayTimeout)
		}
	}
	if errors.Is(cause, errStop) {
		return upstreamError("shutting_down", errStop.Error(), http.StatusServiceUnavailable)
	}
	return nil
}

// notTheWorkers reports whether the cause of an attempt's end lies with the
// gateway: no other worker is to be tried then, and nothing is said about this one.
func notTheWorkers(cause error) bool {
	return errors.Is(cause, errTotal) || errors.Is(cause, errStop)
}

// watch bounds the phases of an attempt. It only goes forward: what is reported
// late about an earlier phase has no effect.
type watch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	phase phase
	timer *time.Timer // nil until the first limit
	armed time.Time   // when it strikes, zero: not at all
	due   time.Time
	why   error
}

// enter begins a phase, or goes on with it, and gives it until a time.
func (w *watch) enter(p phase, due time.Time, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p < w.phase {
		return
	}
	w.phase, w.due, w.why = p, due, why
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(time.Until(due), w.fire)
	case !w.armed.IsZero() && !due.Before(w.armed):
		return // the timer goes on to it when it strikes
	default:
		w.timer.Reset(time.Until(due))
	}
	w.armed = due
}

// pause begins a phase without a limit.
func (w *watch) pause(p phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p < w.phase {
		return
	}
	w.phase, w.why, w.armed = p, nil, time.Time{}
	if w.timer != nil {
		w.timer.Stop()
	}
}

// fire cancels the attempt, unless its limit was moved.
func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = time.Time{}
	switch {
	case w.why == nil:
	case !time.Now().Before(w.due):
		w.cancel(w.why)
	default:
		w.timer.Reset(time.Until(w.due))
		w.armed = w.due
	}
}

// stop ends the watch.
func (w *watch) stop() { w.pause(ending + 1) }
