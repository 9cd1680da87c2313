package telemetry_test

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/http1"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/telemetry/otlptest"
	"gatewayd/pkg/router"
)

// deadline bounds the wait for spans; it is not meant to be reached.
const deadline = time.Minute

// setup returns telemetry that exports to a receiver.
func setup(t *testing.T, env map[string]string) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.Setup(t.Context(), telemetry.Options{Version: "v1", Getenv: otlptest.Getenv(env)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tel.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tel
}

func TestSpansOfARequest(t *testing.T) {
	receiver := otlptest.Start(t)
	for protocol, env := range map[string]map[string]string{"grpc": receiver.Env(), "http": receiver.EnvHTTP()} {
		t.Run(protocol, func(t *testing.T) {
			model := "llama-" + protocol
			tel := setup(t, env)
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()

			_, planning := tel.StartPlan(ctx, "llama", "cacheroute")
			tel.ExportPluginSpans("cacheroute-"+protocol, []telemetry.PluginSpan{{
				TraceID: planning.Ref().TraceID, SpanID: [8]byte{1}, ParentID: planning.Ref().SpanID,
				Name: "plan " + protocol, Start: time.Unix(5, 0), End: time.Unix(6, 0), Error: "too\xffmany",
				Attributes: []telemetry.PluginAttribute{{Key: "keys", Number: 12}, {Key: "mode", Text: "lpt"}},
			}})
			planning.End(telemetry.PlanFailed, 7, 12, errors.New("no "+protocol))

			ctx, server := tel.StartServer(ctx, telemetry.ServerRequest{Method: http.MethodPost, Major: 1}, "/v1/chat/completions")
			_, decision := tel.StartDecision(ctx)
			decision.End(telemetry.DecisionResult{
				Verdict: "route", Strategy: "cacheroute", Version: "1.2", Reason: "table", PlanVersion: 7, Plan: planning.Ref(),
				Candidates: 4, Rank: 1, Worker: "w1", Fallback: "late",
			})
			for number, end := range []telemetry.AttemptResult{
				{Outcome: telemetry.AttemptConnect, ErrorType: "connect"},
				{
					Outcome: telemetry.AttemptOK, Status: 200, ResponseID: "cmpl-1", ResponseModel: "llama-x", FinishReasons: []string{"stop"},
					FirstChunk: 250 * time.Millisecond, HasUsage: true, Usage: router.Usage{PromptTokens: 900, OutputTokens: 50, CachedTokens: 512},
				},
			} {
				_, attempt := tel.StartAttempt(ctx, telemetry.Attempt{
					Operation: telemetry.OperationChat, Provider: "vllm", Model: model, Stream: true, MaxTokens: 64,
					Worker: "w1", URL: &url.URL{Scheme: "http", Host: "10.0.0.1:8000"}, Number: number + 1,
				}, new(http1.Header))
				attempt.End(end)
			}
			server.End(telemetry.ServerResult{
				Status: 200, Outcome: router.Completed, RequestID: "r1", Model: model, Worker: "w1", Strategy: "cacheroute", Attempts: 2,
			})

			all := receiver.Wait(ctx, func(spans []otlptest.Span) bool {
				return len(ofTrace(spans, server.Ref())) == 4 && len(ofTrace(spans, planning.Ref())) == 2
			})
			spans := ofTrace(all, server.Ref())
			one := func(spans []otlptest.Span, name string) otlptest.Span {
				t.Helper()
				found := otlptest.Named(spans, name)
				if len(found) != 1 {
					t.Fatalf("%d spans named %q in %v", len(found), name, spans)
				}
				return found[0]
			}
			root := one(spans, "POST /v1/chat/completions")
			check(t, root, "gatewayd", "SERVER", "", map[string]any{
				"http.request.method": "POST", "http.route": "/v1/chat/completions", "url.path": "/v1/chat/completions",
				"url.scheme": "http", "network.protocol.version": "1.1", "http.response.status_code": int64(200),
				"gatewayd.outcome": "completed", "gatewayd.attempt": int64(2), "gatewayd.request.id": "r1",
				"gen_ai.request.model": model, "gatewayd.worker": "w1", "gatewayd.strategy.name": "cacheroute",
			})
			decided := one(spans, "gatewayd.decide")
			check(t, decided, "gatewayd", "INTERNAL", root.SpanID, map[string]any{
				"gatewayd.decision.verdict": "route", "gatewayd.strategy.name": "cacheroute", "gatewayd.strategy.version": "1.2",
				"gatewayd.decision.reason": "table", "gatewayd.plan.version": int64(7), "gatewayd.pick.candidates": int64(4),
				"gatewayd.pick.rank": int64(1), "gatewayd.worker": "w1", "gatewayd.fallback.reason": "late",
			})
			plan := one(ofTrace(all, planning.Ref()), "gatewayd.plan")
			if want := []otlptest.Link{{TraceID: plan.TraceID, SpanID: plan.SpanID}}; !reflect.DeepEqual(decided.Links, want) {
				t.Errorf("the decision links to %v, want %v", decided.Links, want)
			}
			check(t, plan, "gatewayd", "INTERNAL", "", map[string]any{
				"gatewayd.pool": "llama", "gatewayd.strategy.name": "cacheroute", "gatewayd.plan.result": "failed",
				"gatewayd.plan.keys": int64(12), "gatewayd.plan.version": int64(7),
			})
			if !plan.Error || plan.Message != "no "+protocol {
				t.Errorf("the failed plan's status: %v %q", plan.Error, plan.Message)
			}
			inPlugin := one(all, "plan "+protocol)
			check(t, inPlugin, "cacheroute-"+protocol, "INTERNAL", plan.SpanID, map[string]any{"keys": int64(12), "mode": "lpt"})
			if inPlugin.TraceID != plan.TraceID || inPlugin.StartNanos != 5e9 || inPlugin.EndNanos != 6e9 || inPlugin.Message != "too\uFFFDmany" {
				t.Errorf("the plugin's span: %+v", inPlugin)
			}

			attempts := otlptest.Named(spans, "chat "+model)
			if len(attempts) != 2 {
				t.Fatalf("%d attempts", len(attempts))
			}
			common := map[string]any{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm", "gen_ai.request.model": model,
				"gen_ai.request.stream": true, "gen_ai.request.max_tokens": int64(64), "gatewayd.worker": "w1",
				"server.address": "10.0.0.1", "server.port": int64(8000),
			}
			check(t, attempts[0], "gatewayd", "CLIENT", root.SpanID, with(common, map[string]any{
				"gatewayd.attempt": int64(1), "gatewayd.outcome": "connect", "error.type": "connect",
			}))
			check(t, attempts[1], "gatewayd", "CLIENT", root.SpanID, with(common, map[string]any{
				"gatewayd.attempt": int64(2), "gatewayd.outcome": "ok", "http.response.status_code": int64(200),
				"gen_ai.response.id": "cmpl-1", "gen_ai.response.model": "llama-x", "gen_ai.response.finish_reasons": []any{"stop"},
				"gen_ai.response.time_to_first_chunk": 0.25, "gen_ai.usage.input_tokens": int64(900),
				"gen_ai.usage.output_tokens": int64(50), "gen_ai.usage.cache_read.input_tokens": int64(512),
			}))
			if !attempts[0].Error || attempts[1].Error || root.Error {
				t.Errorf("errors: %v %v %v", attempts[0].Error, attempts[1].Error, root.Error)
			}
		})
	}
}

func ofTrace(spans []otlptest.Span, ref telemetry.SpanRef) []otlptest.Span {
	var found []otlptest.Span
	for _, s := range spans {
		if s.TraceID == hex.EncodeToString(ref.TraceID[:]) {
			found = append(found, s)
		}
	}
	return found
}

func with(a, b map[string]any) map[string]any {
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	return sum
}

func check(t *testing.T, s otlptest.Span, service, kind, parent string, attributes map[string]any) {
	t.Helper()
	if s.Service != service || s.Kind != kind || s.ParentID != parent {
		t.Errorf("%s: service %q, kind %q, parent %q; want %q, %q, %q", s.Name, s.Service, s.Kind, s.ParentID, service, kind, parent)
	}
	if !reflect.DeepEqual(s.Attributes, attributes) {
		t.Errorf("%s: attributes\n%v, want\n%v", s.Name, s.Attributes, attributes)
	}
}

func TestHostileTextDoesNotLoseTheBatch(t *testing.T) {
	receiver := otlptest.Start(t)
	tel := setup(t, receiver.Env())
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	bad := strings.Repeat("x\xff\n", 1000)

	ctx, server := tel.StartServer(ctx, telemetry.ServerRequest{Method: "CANARY", Major: 1}, "")
	_, decision := tel.StartDecision(ctx)
	decision.End(telemetry.DecisionResult{Verdict: "refuse", Strategy: bad, Version: bad, Reason: bad, Fallback: bad})
	_, attempt := tel.StartAttempt(ctx, telemetry.Attempt{Operation: "chat", Provider: bad, Model: bad, Worker: bad, URL: &url.URL{Host: bad}}, new(http1.Header))
	attempt.End(telemetry.AttemptResult{ErrorType: bad, ResponseID: bad, ResponseModel: bad, FinishReasons: []string{bad}})
	_, plan := tel.StartPlan(ctx, bad, bad)
	plan.End(telemetry.PlanInvalid, 0, 0, errors.New(bad))
	tel.ExportPluginSpans(bad, []telemetry.PluginSpan{
		{}, // malformed: dropped
		{TraceID: [16]byte{1}, SpanID: [8]byte{1}, Name: bad, Start: time.Unix(1, 0), End: time.Unix(1, 0), Error: bad,
			Attributes: []telemetry.PluginAttribute{{Key: bad, Text: bad}}},
	})
	server.End(telemetry.ServerResult{Status: 500, Outcome: router.Refused, ErrorType: bad, RequestID: bad, Model: bad, Worker: bad, Strategy: bad})

	for _, s := range receiver.WaitSpans(ctx, 5) {
		for key, value := range s.Attributes {
			if text, ok := value.(string); ok && len(text) > 1024 {
				t.Errorf("%s: %s has %d bytes", s.Name, key, len(text))
			}
			if text, _ := value.(string); strings.Contains(strings.ToLower(text), "canary") {
				t.Errorf("%s: %s holds what the client made up: %q", s.Name, key, text)
			}
		}
		if s.Kind == "SERVER" && s.Name != "HTTP" {
			t.Errorf("the span of an unknown method and route is named %q", s.Name)
		}
		if !s.Error {
			t.Errorf("%s is not an error", s.Name)
		}
	}
}

func TestMetricsArePushed(t *testing.T) {
	receiver := otlptest.Start(t)
	for protocol, env := range map[string]map[string]string{"grpc": receiver.Env(), "http": receiver.EnvHTTP()} {
		t.Run(protocol, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			tel := setup(t, env)
			tel.Metrics.SetPluginUp("sticky", true)
			receiver.WaitMetric(ctx, telemetry.MetricPluginUp)
			receiver.WaitMetric(ctx, telemetry.MetricBuildInfo)
		})
	}
}

func TestOffUnlessAsked(t *testing.T) {
	receiver := otlptest.Start(t)
	for name, env := range map[string]map[string]string{
		"nothing set":   {},
		"sdk disabled":  set(receiver.Env(), "OTEL_SDK_DISABLED", "true"),
		"exporter none": set(receiver.Env(), "OTEL_TRACES_EXPORTER", "none"),
		"only metrics":  {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": receiver.Env()["OTEL_EXPORTER_OTLP_ENDPOINT"], "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			tel := setup(t, env)
			if tel.On() {
				t.Error("traces are on")
			}
			if _, span := tel.TracerProvider().Tracer("x").Start(t.Context(), "x"); span.IsRecording() {
				t.Error("the provider records")
			}
		})
	}
}

func set(env map[string]string, name, value string) map[string]string {
	env[name] = value
	return env
}
