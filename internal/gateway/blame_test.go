package gateway

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"gatewayd/internal/config"
)

// rotation says whether worker w0 gets requests, as metrics say, and how often its
// breaker has opened.
func (w *world) rotation() (up, openings float64) {
	return w.metric("gatewayd_worker_up", `worker="w0"`), w.metric("gatewayd_worker_breaker_openings_total", `worker="w0"`)
}

// A thousand requests that a worker refuses say nothing about the worker.
func TestRefusalsAreNotTheWorkers(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		if status, err := strconv.Atoi(r.Header.Get("X-Do")); err == nil {
			http.Error(w, "no", status)
			return
		}
		answerJSON(w, r, b)
	})
	w := newWorld(t, nil, f)
	statuses := []int{400, 401, 403, 413, 422, 429}
	for i := range 1000 {
		want := statuses[i%len(statuses)]
		if resp, _ := w.post("/v1/completions", `{"model":"m","prompt":"p"}`, "X-Do", strconv.Itoa(want)); resp.StatusCode != want {
			t.Fatalf("request %d: status %d, want %d", i, resp.StatusCode, want)
		}
	}
	if up, openings := w.rotation(); up != 1 || openings != 0 {
		t.Errorf("up %v, its breaker opened %v times", up, openings)
	}
	if resp, _ := w.post("/v1/completions", `{"model":"m","prompt":"p"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("the next good request: status %d", resp.StatusCode)
	}
	w.idle()
}

// A worker whose health checks pass and whose streams never begin leaves rotation
// after a few of them, and returns only when it has really served a request.
func TestStalledWorkerLeaves(t *testing.T) {
	var stalls atomic.Bool
	stalls.Store(true)
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		if stalls.Load() {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, event("t")+"data: [DONE]\n\n")
	})
	w := newWorld(t, func(c *config.Config) {
		c.Timeouts.FirstToken = 100 * time.Millisecond
		c.Limits.Attempts = 1
		c.Breaker = config.Breaker{Failures: 3, Cooldown: 200 * time.Millisecond, MaxCooldown: 400 * time.Millisecond, Probes: 1}
	}, f)
	send := func() int {
		resp, _ := w.post("/v1/completions", `{"model":"m","prompt":"p","stream":true}`)
		return resp.StatusCode
	}
	for range 3 {
		send()
	}
	w.until("the worker to leave", func() bool { up, openings := w.rotation(); return up == 0 && openings == 1 })
	w.until("its trial", func() bool { up, _ := w.rotation(); return up == 1 })
	send()
	w.until("it to fail its trial", func() bool { _, openings := w.rotation(); return openings == 2 })
	stalls.Store(false)
	w.until("a request to be served", func() bool { return send() == http.StatusOK })
	for range 20 {
		if status := send(); status != http.StatusOK {
			t.Errorf("after it is back: status %d", status)
		}
	}
	if up, openings := w.rotation(); up != 1 || openings != 2 {
		t.Errorf("up %v, its breaker opened %v times", up, openings)
	}
	w.idle()
}
