// Package otlptest is an OpenTelemetry collector for tests: it listens on
// loopback for OTLP over gRPC and over HTTP, and keeps what it receives.
package otlptest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Receiver keeps the spans and the names of the metrics it receives. It is safe
// for concurrent use.
type Receiver struct {
	tb         testing.TB
	grpc, http string // base URLs

	mu      sync.Mutex
	spans   []Span
	metrics map[string]bool
	changed chan struct{} // closed and replaced at each arrival
}

// Start starts a receiver that stops at the end of the test.
func Start(tb testing.TB) *Receiver {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen for OTLP: %v", err)
	}
	r := &Receiver{
		tb:      tb,
		grpc:    "http://" + listener.Addr().String(),
		metrics: map[string]bool{},
		changed: make(chan struct{}),
	}
	server := grpc.NewServer()
	tracepb.RegisterTraceServiceServer(server, traceService{receiver: r})
	metricspb.RegisterMetricsServiceServer(server, metricsService{receiver: r})
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); err != nil {
			tb.Errorf("serve OTLP: %v", err)
		}
	}()
	web := httptest.NewServer(r.mux())
	r.http = web.URL
	tb.Cleanup(func() {
		web.Close()
		server.Stop()
		<-served
	})
	return r
}

// Env returns the variables that send spans and metrics here over gRPC, soon
// after they are made.
func (r *Receiver) Env() map[string]string { return env(r.grpc, "grpc") }

// EnvHTTP is Env for OTLP over HTTP.
func (r *Receiver) EnvHTTP() map[string]string { return env(r.http, "http/protobuf") }

func env(endpoint, protocol string) map[string]string {
	return map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
		"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
		"OTEL_BSP_SCHEDULE_DELAY":     "5",
		"OTEL_METRIC_EXPORT_INTERVAL": "250",
	}
}

// Getenv returns a function that reads the variables in env only.
func Getenv(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

// Wait returns the spans received, as soon as enough says that they are; the
// test fails if ctx ends before. It must be called from the test's goroutine.
func (r *Receiver) Wait(ctx context.Context, enough func([]Span) bool) []Span {
	r.tb.Helper()
	for {
		r.mu.Lock()
		spans, changed := slices.Clone(r.spans), r.changed
		r.mu.Unlock()
		if enough(spans) {
			return spans
		}
		select {
		case <-changed:
		case <-ctx.Done():
			r.tb.Fatalf("wait for spans: %v; received %d: %v", context.Cause(ctx), len(spans), spans)
		}
	}
}

// WaitSpans waits until n spans are received and returns all that are.
func (r *Receiver) WaitSpans(ctx context.Context, n int) []Span {
	r.tb.Helper()
	return r.Wait(ctx, func(spans []Span) bool { return len(spans) >= n })
}

// WaitMetric waits until a metric of that name is received.
func (r *Receiver) WaitMetric(ctx context.Context, name string) {
	r.tb.Helper()
	r.Wait(ctx, func([]Span) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.metrics[name]
	})
}

func (r *Receiver) arrived(add func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Receiver) mux() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/traces", post(func(body []byte) error {
		var request tracepb.ExportTraceServiceRequest
		err := proto.Unmarshal(body, &request)
		if err == nil {
			r.addSpans(&request)
		}
		return err
	}))
	mux.Handle("POST /v1/metrics", post(func(body []byte) error {
		var request metricspb.ExportMetricsServiceRequest
		err := proto.Unmarshal(body, &request)
		if err == nil {
			r.addMetrics(&request)
		}
		return err
	}))
	return mux
}

func post(take func([]byte) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = take(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // an empty message
	})
}

type traceService struct {
	tracepb.UnimplementedTraceServiceServer
	receiver *Receiver
}

func (s traceService) Export(_ context.Context, request *tracepb.ExportTraceServiceRequest) (*tracepb.ExportTraceServiceResponse, error) {
	s.receiver.addSpans(request)
	return &tracepb.ExportTraceServiceResponse{}, nil
}

type metricsService struct {
	metricspb.UnimplementedMetricsServiceServer
	receiver *Receiver
}

func (s metricsService) Export(_ context.Context, request *metricspb.ExportMetricsServiceRequest) (*metricspb.ExportMetricsServiceResponse, error) {
	s.receiver.addMetrics(request)
	return &metricspb.ExportMetricsServiceResponse{}, nil
}
