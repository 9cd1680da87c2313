package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatewayd/internal/http1"
)

// busy is a worker that has too much to do for so many seconds.
func busy(t *testing.T, retryAfter string) *fake {
	return newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "too much", http.StatusTooManyRequests)
	})
}

// A worker that always has too much to do is asked once, and left alone for as long as
// it says; its breaker stays closed.
func TestBusyWorkerIsLeftAlone(t *testing.T) {
	tired, fresh := busy(t, "600"), newFake(t, answerJSON)
	w := newWorld(t, nil, tired, fresh)
	for i := range 100 {
		if resp, text := w.post("/v1/completions", `{"model":"m","prompt":"p"}`); resp.StatusCode != http.StatusOK {
			t.Fatalf("request %d: %s %s", i, resp.Status, text)
		}
	}
	if n := len(tired.seen()); n != 1 {
		t.Errorf("the worker was asked %d times", n)
	}
	if up, openings := w.rotation(); up != 1 || openings != 0 {
		t.Errorf("up %v, its breaker opened %v times", up, openings)
	}
	if n := w.metric("gatewayd_worker_pauses_total", `"w0"`); n != 1 {
		t.Errorf("the metrics tell of %v pauses", n)
	}
	if d := w.set.Pools()["m"].PausedFor("w0"); d < 30*time.Second || d > 75*time.Second {
		t.Errorf("it pauses for %v, whatever it asks for", d)
	}
	w.idle()
}

// When all workers ask for a pause the client is told when the first one is back: by
// the answer of whichever was asked last, and then by the gateway.
func TestAllWorkersPause(t *testing.T) {
	workers := []*fake{busy(t, "31"), busy(t, "47"), busy(t, "53")}
	w := newWorld(t, nil, workers...)
	resp, text := w.post("/v1/completions", `{"model":"m","prompt":"p"}`)
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "31" || text != "too much\n" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, text)
	}
	resp, text = w.post("/v1/completions", `{"model":"m","prompt":"p"}`)
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || resp.StatusCode != http.StatusTooManyRequests || after < 1 || after > 31*5/4+1 || !strings.Contains(text, `"workers_pause"`) {
		t.Errorf("%s %v %s", resp.Status, resp.Header, text)
	}
	for i, f := range workers {
		if n := len(f.seen()); n != 1 {
			t.Errorf("worker %d was asked %d times", i, n)
		}
	}
	if n := w.metric("gatewayd_refusals_total", `"workers_pause"`); n != 1 {
		t.Errorf("the metrics tell of %v refusals", n)
	}
	w.idle()
}

// The client is told that also by the answer of a worker that does not say it itself.
func TestPauseIsToldForOthers(t *testing.T) {
	var asked atomic.Int64
	answer := func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "31")
		}
		http.Error(w, "too much", http.StatusTooManyRequests)
	}
	w := newWorld(t, nil, newFake(t, answer), newFake(t, answer))
	resp, text := w.post("/v1/completions", `{"model":"m","prompt":"p"}`)
	if after := resp.Header["Retry-After"]; resp.StatusCode != http.StatusTooManyRequests || len(after) != 1 || after[0] != "31" || text != "too much\n" || asked.Load() != 2 {
		t.Errorf("%s %v %s after %d calls", resp.Status, resp.Header, text, asked.Load())
	}
	w.idle()
}

func TestRetryAfterIsRead(t *testing.T) {
	now := time.Date(2030, time.May, 4, 3, 2, 1, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "": 0, "-7": 0, "1.5": 0, "soon": 0,
		"Sat, 04 May 2030 03:03:01 GMT": time.Minute, "Sat, 04 May 2030 03:01:01 GMT": 0,
		"9223372036854775807": longestRetryAfter, "99999999999999999999": 0, "Sat, 04 May 9999 03:03:01 GMT": longestRetryAfter,
	} {
		if got := retryAfter(http1.Header{{Name: "Retry-After", Value: text}}, now); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
