package gateway

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatewayd/internal/config"
)

// After hundreds of requests with every kind of ending, at once and over several
// workers, nothing is left of them: no count, no body, no goroutine (TestMain).
func TestNothingIsLeft(t *testing.T) {
	const requests, connections = 600, 24
	serve := func(w http.ResponseWriter, r *http.Request, b []byte) {
		flush := http.NewResponseController(w).Flush
		start := func() {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t"))
			flush()
		}
		switch r.Header.Get("X-Do") {
		case "reset":
			panic(http.ErrAbortHandler)
		case "cut":
			start()
			panic(http.ErrAbortHandler)
		case "short":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		case "400", "429", "500", "503":
			var status int
			fmt.Sscan(r.Header.Get("X-Do"), &status)
			http.Error(w, "no", status)
		case "silent":
			<-r.Context().Done()
		case "stall":
			start()
			<-r.Context().Done()
		case "error":
			start()
			io.WriteString(w, `data: {"error":{"message":"no","code":500}}`+"\n\n")
		case "stream":
			start()
			io.WriteString(w, usageEvent+"data: [DONE]\n\n")
		default:
			answerJSON(w, r, b)
		}
	}
	workers := []*fake{newFake(t, serve), newFake(t, serve), newFake(t, serve)}
	w := newWorld(t, func(c *config.Config) {
		c.Breaker.Failures, c.Limits.Queue, c.Limits.QueueWait = 1000, 8, 200*time.Millisecond
		c.Timeouts.ResponseHead, c.Timeouts.TokenGap = 300*time.Millisecond, 300*time.Millisecond
		for i := range c.Workers {
			c.Workers[i].Concurrency = 4
		}
	}, workers...)
	endings := []string{"whole", "whole", "stream", "stream", "reset", "cut", "short", "400", "429", "500", "503", "silent", "stall", "error", "leave", "leave", "unknown", "bad", "late"}
	var left atomic.Int64
	next := make(chan int)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for n := range next {
				random := rand.New(rand.NewPCG(1, uint64(n)))
				do := endings[random.IntN(len(endings))]
				patience, body := long, streamed
				switch do {
				case "whole", "short":
					body = hello
				case "unknown":
					body = strings.Replace(hello, `"m"`, `"nothing"`, 1)
				case "bad":
					body = `{"model":`
				case "leave": // at any moment, even before the request is there
					left.Add(1)
					do = []string{"silent", "stall", "stream"}[random.IntN(3)]
					patience = time.Duration(random.IntN(20_000)) * time.Microsecond
				case "late":
					patience, body, do = time.Second, hello, "silent" // whole answers have no limit of their own
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				w.try(ctx, "/v1/chat/completions", body, "X-Do", do) // any ending is right
				cancel()
			}
		})
	}
	for n := range requests {
		next <- n
	}
	close(next)
	all.Wait()
	w.idle()
	if n := w.gateway.inMemory.Load(); n != 0 {
		t.Errorf("bodies of %d bytes count as held", n)
	}
	if n := w.metric("gatewayd_requests_total"); n > requests || n < requests-float64(left.Load()) {
		t.Errorf("%v requests ended, of %d, of which %d may not have come", n, requests, left.Load())
	}
	for _, outcome := range []string{"completed", "failed", "cancelled", "refused"} {
		if w.metric("gatewayd_requests_total", `outcome="`+outcome+`"`) == 0 {
			t.Errorf("no request was %s, so the test shows too little", outcome)
		}
	}
	if n := w.metric("gatewayd_in_flight") + w.metric("gatewayd_queue_depth"); n != 0 {
		t.Errorf("%v requests are in flight or wait, by the metrics", n)
	}
}
