package gateway

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry/otlptest"
)

// Every ending has exactly one finished SERVER span with its status and worker,
// is counted once, and leaves nothing in flight.
func TestEveryEndingHasOneSpan(t *testing.T) {
	receiver, tele := traced(t)
	arrived := make(chan struct{}, 1)
	stay := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		stream := func(text string) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t")+text)
			http.NewResponseController(w).Flush()
		}
		switch r.Header.Get("X-Do") {
		case "reset":
			panic(http.ErrAbortHandler)
		case "cut":
			stream("")
			panic(http.ErrAbortHandler)
		case "503", "404", "500":
			http.Error(w, "no", map[string]int{"503": 503, "404": 404, "500": 500}[r.Header.Get("X-Do")])
		case "silence":
			<-r.Context().Done()
		case "stream":
			stream("data: [DONE]\n\n")
		case "gone midway":
			stream("")
			<-r.Context().Done()
		case "gone", "gone from the queue":
			arrived <- struct{}{}
			<-r.Context().Done()
		case "occupy":
			arrived <- struct{}{}
			<-stay
			fallthrough
		default:
			answerJSON(w, r, b)
		}
	})
	w := setup{telemetry: tele, config: func(c *config.Config) {
		c.Breaker.Failures, c.Limits.Attempts, c.Workers[0].Concurrency, c.Limits.QueueWait = 1000, 1, 1, 500*time.Millisecond
		c.Timeouts.ResponseHead = 500 * time.Millisecond
	}}.world(t, f)

	// send is one request; its client leaves when leave is closed.
	send := func(do, body string, leave <-chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if leave != nil {
			go func() { <-leave; cancel() }()
		}
		resp, _, err := w.try(ctx, "/v1/chat/completions", body, "X-Do", do, "X-Request-Id", strings.ReplaceAll(do, " ", "-"))
		if err != nil && leave == nil && do != "cut" {
			t.Errorf("%s: %v %v", do, resp, err)
		}
	}
	wants := map[string]struct {
		status  int64
		outcome string
		worker  bool
	}{
		"whole": {200, "completed", true}, "stream": {200, "completed", true}, "404": {404, "completed", true}, "500": {500, "failed", true},
		"503": {503, "failed", true}, "reset": {502, "failed", true}, "cut": {200, "failed", true}, "silence": {504, "failed", true},
		"gone": {statusGone, "cancelled", true}, "gone-midway": {200, "cancelled", true}, "occupy": {200, "completed", true},
		"waits-long": {503, "refused", false}, "gone-from-the-queue": {statusGone, "cancelled", false},
		"unknown": {404, "refused", false}, "bad": {400, "refused", false},
	}
	send("whole", hello, nil)
	for _, do := range []string{"stream", "404", "500", "503", "reset", "cut", "silence"} {
		send(do, streamed, nil)
	}
	send("unknown", `{"model":"nothing","messages":[]}`, nil)
	send("bad", `{`, nil)
	gone := make(chan struct{})
	go func() { <-arrived; close(gone) }()
	send("gone", hello, gone)
	w.idle()
	w.leaveMidway("gone midway")
	w.idle()
	occupied := make(chan struct{})
	go func() { send("occupy", hello, nil); close(occupied) }()
	<-arrived
	send("waits long", hello, nil)
	leave := make(chan struct{})
	go func() { w.until("a request in the queue", func() bool { return w.lives() == 2 }); close(leave) }()
	send("gone from the queue", hello, leave)
	w.until("it to leave the queue", func() bool { return w.lives() == 1 })
	close(stay)
	<-occupied
	w.idle()

	servers := func(spans []otlptest.Span) (out []otlptest.Span) {
		for _, s := range spans {
			if s.Kind == "SERVER" {
				out = append(out, s)
			}
		}
		return out
	}
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	receiver.Wait(patience, func(spans []otlptest.Span) bool { return len(servers(spans)) >= len(wants) })
	if err := tele.Shutdown(t.Context()); err != nil { // nothing is sent behind this
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range servers(receiver.Wait(patience, func([]otlptest.Span) bool { return true })) {
		id, _ := s.Attributes["gatewayd.request.id"].(string)
		want, ok := wants[id]
		if !ok || seen[id] {
			t.Errorf("a span too many: %+v", s)
			continue
		}
		seen[id] = true
		if s.Attributes["http.response.status_code"] != want.status || s.Attributes["gatewayd.outcome"] != want.outcome {
			t.Errorf("%s: status %v, outcome %v, want %d, %s", id, s.Attributes["http.response.status_code"], s.Attributes["gatewayd.outcome"], want.status, want.outcome)
		}
		if worker := s.Attributes["gatewayd.worker"]; (worker == "w0") != want.worker {
			t.Errorf("%s: worker %v", id, worker)
		}
	}
	for id := range wants {
		if !seen[id] {
			t.Errorf("%s has no span", id)
		}
	}
	if n := w.metric("gatewayd_requests_total"); n != float64(len(wants)) {
		t.Errorf("%v requests counted, want %d", n, len(wants))
	}
}

// leaveMidway sends a request for a stream and leaves when that has begun.
func (w *world) leaveMidway(do string) {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(streamed))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("X-Do", do)
	req.Header.Set("X-Request-Id", strings.ReplaceAll(do, " ", "-"))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, len(event("t")))); err != nil {
		w.t.Error(err)
	}
	resp.Body.Close()
}

// failing stands before a fleet and fails like a fault of the gateway's own.
type failing struct{ Workers }

func (f failing) Report(string, fleet.Outcome) { panic("a fault") }

// A fault of the gateway's own ends the request that met it, and nothing else:
// the slot is free, the client is told unless it has got all of its answer, the log has
// the trace.
func TestFaultEndsOneRequest(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		switch r.Header.Get("X-Do") {
		case "reset":
			panic(http.ErrAbortHandler)
		case "chunk":
			w.(http.Flusher).Flush()
		}
		answerJSON(w, r, b)
	})
	w := setup{workers: func(next Workers) Workers { return failing{next} }}.world(t, f)
	for range 3 {
		resp, text := w.post("/v1/chat/completions", hello, "X-Do", "reset")
		if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(text, `"code":"internal"`) {
			t.Errorf("%s %s", resp.Status, text)
		}
		if _, _, err := w.try(t.Context(), "/v1/chat/completions", hello, "X-Do", "chunk"); err == nil {
			t.Error("an answer that broke off came whole")
		}
		if _, text, err := w.try(t.Context(), "/v1/chat/completions", hello); err != nil || !strings.HasSuffix(text, "}}") {
			t.Errorf("an answer that had gone out did not come whole: %q, %v", text, err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // the gateway closes this one
		w.idle()
	}
	if n := w.metric("gatewayd_requests_total", `outcome="failed"`); n != 9 {
		t.Errorf("%v failed requests counted, want 9", n)
	}
	if log := w.log.String(); strings.Count(log, "a request met a fault of the gateway") != 9 || !strings.Contains(log, "endings_test.go") {
		t.Errorf("the log does not tell where:\n%s", log)
	}
}

// A server that drains still serves, and asks for no more on a connection.
func TestDrain(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	w.gateway.Drain()
	if resp, text := w.get(http.MethodGet, "/readyz"); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "shutting down") {
		t.Errorf("ready: %s %s", resp.Status, text)
	}
	resp, text := w.post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusOK || !resp.Close {
		t.Errorf("%s %s, the connection is kept: %v", resp.Status, text, !resp.Close)
	}
	<-w.gateway.Idle()
}

// TestStopTellsClients: requests that are cut off when the gateway ends are told
// so, in the stream or by a 503, and the worker is not blamed.
func TestStopTellsClients(t *testing.T) {
	arrived := make(chan struct{}, 2)
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t"))
			http.NewResponseController(w).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	w := newWorld(t, nil, f)
	answers := make(chan string, 2)
	for _, body := range []string{hello, `{"model":"m","stream":true,"messages":[]}`} {
		go func() {
			resp, text, err := w.try(t.Context(), "/v1/chat/completions", body)
			if err != nil {
				answers <- err.Error()
				return
			}
			answers <- resp.Status + " " + text
		}()
		<-arrived
	}
	w.gateway.Stop()
	for range 2 {
		answer := <-answers
		if !strings.Contains(answer, `"code":"shutting_down"`) || !strings.HasPrefix(answer, "503 ") && !strings.HasPrefix(answer, "200 OK data: ") {
			t.Errorf("a request that was cut off got %q", answer)
		}
	}
	w.idle()
}
