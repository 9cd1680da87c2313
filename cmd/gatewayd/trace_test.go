package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gatewayd/internal/telemetry/otlptest"
)

func TestTraceOfOneRequest(t *testing.T) {
	receiver := otlptest.Start(t)
	behind := emulatedWorker(t)
	var mu sync.Mutex
	var parents []string
	worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/chat") {
			mu.Lock()
			parents = append(parents, strings.Join(r.Header.Values("Traceparent"), " "))
			mu.Unlock()
		}
		proxy(t, behind, w, r)
	}))
	t.Cleanup(worker.Close)
	g := startGateway(t, receiver.Env(), "--worker", worker.URL, "--plugin", askingPlugin(t), "--plugin", "cacheroute:interval=100ms", "--plugin", "sticky")
	until(t, "a plan", func() bool { return g.plan("sticky").Bind > 0 })

	const incoming = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	req, err := http.NewRequest(http.MethodPost, "http://"+g.api+"/v1/chat/completions",
		strings.NewReader(`{"model":"m","max_tokens":2,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Traceparent", incoming)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	trace := func(spans []otlptest.Span, name, service string) *otlptest.Span {
		for i := range spans {
			if s := &spans[i]; s.Name == name && s.Service == service && s.TraceID == "0123456789abcdef0123456789abcdef" {
				return s
			}
		}
		return nil
	}
	var server, decision, attempt, route *otlptest.Span
	spans := receiver.Wait(patience(t), func(spans []otlptest.Span) bool {
		server, decision = trace(spans, "POST /v1/chat/completions", "gatewayd"), trace(spans, "gatewayd.decide", "gatewayd")
		attempt, route = trace(spans, "chat m", "gatewayd"), trace(spans, "gatewayd.plugin.route", "asking")
		return server != nil && decision != nil && attempt != nil && route != nil
	})
	if server.ParentID != "0123456789abcdef" || server.Kind != "SERVER" {
		t.Errorf("server span: %+v", server)
	}
	if decision.ParentID != server.SpanID || decision.Kind != "INTERNAL" || decision.Attributes["gatewayd.strategy.name"] != "asking" {
		t.Errorf("decision span: %+v", decision)
	}
	if attempt.ParentID != server.SpanID || attempt.Kind != "CLIENT" || attempt.Attributes["gen_ai.usage.output_tokens"] != int64(2) {
		t.Errorf("attempt span: %+v", attempt)
	}
	if route.ParentID != decision.SpanID {
		t.Errorf("the plugin's span for Route is not a child of the decision: %+v", route)
	}
	mu.Lock()
	if len(parents) != 1 || parents[0] != "00-"+attempt.TraceID+"-"+attempt.SpanID+"-01" {
		t.Errorf("the worker got traceparent %q, want the attempt's span %s", parents, attempt.SpanID)
	}
	mu.Unlock()

	// A plan's span is the host's, the plugin's is its child, and decisions by
	// the plan link to the host's.
	for _, s := range otlptest.Named(spans, "gatewayd.plan") {
		if s.Attributes["gatewayd.strategy.name"] == "" {
			t.Errorf("planning span without a strategy: %+v", s)
		}
	}
	g.stop(syscall.SIGTERM)
}

func TestDecisionLinksToItsPlan(t *testing.T) {
	receiver := otlptest.Start(t)
	g := startGateway(t, receiver.Env(), "--worker", emulatedWorker(t), "--worker", emulatedWorker(t), "--plugin", "sticky", "--plugin", "joule")
	until(t, "a decision by joule's plan", func() bool {
		resp, _, err := g.chat("s", false)
		return err == nil && resp.Header.Get("X-Gatewayd-Strategy") == "sticky"
	})
	var linked otlptest.Span
	var planning, planned *otlptest.Span
	receiver.Wait(patience(t), func(spans []otlptest.Span) bool {
		linked, planning, planned = otlptest.Span{}, nil, nil
		for _, s := range otlptest.Named(spans, "gatewayd.decide") {
			if len(s.Links) > 0 && s.Attributes["gatewayd.strategy.name"] == "sticky" && s.Attributes["gatewayd.plan.version"] != nil {
				linked = s
			}
		}
		if len(linked.Links) == 0 {
			return false
		}
		for i := range spans {
			s := &spans[i]
			switch {
			case s.Name == "gatewayd.plan" && s.SpanID == linked.Links[0].SpanID:
				planning = s
			case s.Name == "gatewayd.plugin.plan" && s.ParentID == linked.Links[0].SpanID:
				planned = s
			}
		}
		return planning != nil && planned != nil
	})
	if planning.Service != "gatewayd" || planned.Service != "sticky" || planned.TraceID != planning.TraceID {
		t.Errorf("planning span %+v, the plugin's %+v", planning, planned)
	}
	g.stop(syscall.SIGTERM)
}

// proxy passes a request on to another server.
func proxy(t *testing.T, to string, w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	req.Header = r.Header
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := copyFlushing(w, resp.Body); err != nil {
		t.Log(err)
	}
}

func copyFlushing(w http.ResponseWriter, r interface{ Read([]byte) (int, error) }) (int, error) {
	buf, total := make([]byte, 4096), 0
	for {
		n, err := r.Read(buf)
		if n > 0 {
			w.Write(buf[:n])
			http.NewResponseController(w).Flush()
			total += n
		}
		if err != nil {
			return total, nil
		}
	}
}
