package telemetry

import (
	"context"
	"net/http"
	"testing"
	"time"

	"gatewayd/internal/http1"
	"gatewayd/pkg/router"
)

// perRequest records what the gateway records for one good request.
func perRequest(m *Metrics, i *InferenceMetrics, w *WorkerMetrics, s *StrategyMetrics) {
	usage := router.Usage{PromptTokens: 900, OutputTokens: 100, CachedTokens: 512}
	w.SetInFlight(1)
	s.Decided("table")
	m.Overhead(StageParse, 30*time.Microsecond)
	m.Overhead(StageDecide, time.Microsecond)
	m.Overhead(StageRelay, 50*time.Microsecond)
	i.FirstToken(80 * time.Millisecond)
	i.Generated(time.Second, 100)
	i.AttemptDone(time.Second, "")
	i.RequestDone(time.Second, "")
	i.Used(usage)
	w.Used(usage)
	w.Attempt(AttemptOK)
	w.SetInFlight(0)
	m.RequestDone(router.Completed, 200)
}

func TestRecordingAllocatesNothing(t *testing.T) {
	m := NewMetrics("v1")
	m.AllowModels("llama")
	if n := testing.AllocsPerRun(100, func() {
		perRequest(m, m.Inference(OperationChat, "vllm", "llama"), m.Worker("w1"), m.Strategy("sticky"))
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}

// spans makes the spans of one request.
func spans(t *Telemetry, upstream *http1.Header) {
	ctx, server := t.StartServer(context.Background(), ServerRequest{Method: http.MethodPost, Major: 1}, "/v1/chat/completions")
	_, decision := t.StartDecision(ctx)
	decision.End(DecisionResult{Verdict: "route", Strategy: "sticky", Reason: "hold", Candidates: 4, Worker: "w1"})
	_, attempt := t.StartAttempt(ctx, Attempt{Operation: OperationChat, Model: "llama", Worker: "w1", Number: 1}, upstream)
	attempt.End(AttemptResult{Status: 200})
	server.End(ServerResult{Status: 200, Worker: "w1"})
}

func TestTracingOffAllocatesNothing(t *testing.T) {
	telemetry := Off()
	var upstream http1.Header
	if n := testing.AllocsPerRun(100, func() { spans(telemetry, &upstream) }); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
	if _, plan := telemetry.StartPlan(context.Background(), "p", "s"); plan.Ref().Valid() {
		t.Error("a plan has a span while tracing is off")
	}
	telemetry.ExportPluginSpans("sticky", make([]PluginSpan, 1))
	if telemetry.On() || len(upstream) != 0 {
		t.Errorf("on: %v, headers: %v", telemetry.On(), upstream)
	}
}

func BenchmarkMetricsPerRequest(b *testing.B) {
	m := NewMetrics("v1")
	m.AllowModels("llama")
	i, w, s := m.Inference(OperationChat, "vllm", "llama"), m.Worker("w1"), m.Strategy("sticky")
	b.ReportAllocs()
	for b.Loop() {
		perRequest(m, i, w, s)
	}
}

func BenchmarkSpansOff(b *testing.B) {
	telemetry := Off()
	var upstream http1.Header
	b.ReportAllocs()
	for b.Loop() {
		spans(telemetry, &upstream)
	}
}

func BenchmarkSpansUnsampled(b *testing.B) {
	telemetry := traced(b, &memory{}, map[string]string{"OTEL_TRACES_SAMPLER": "always_off"})
	var upstream http1.Header
	b.ReportAllocs()
	for b.Loop() {
		spans(telemetry, &upstream)
	}
}

func BenchmarkSpansSampled(b *testing.B) {
	telemetry := traced(b, &memory{forget: true}, nil)
	var upstream http1.Header
	b.ReportAllocs()
	for b.Loop() {
		spans(telemetry, &upstream)
	}
}
