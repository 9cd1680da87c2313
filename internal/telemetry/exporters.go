package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// traceExporter returns the exporter of spans to a target. Headers, certificates,
// compression and time-outs it takes from the process environment by itself.
func traceExporter(ctx context.Context, t target) (sdktrace.SpanExporter, error) {
	if t.grpc {
		return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(t.url))
	}
	return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(t.url))
}

// metricPusher pushes what the registry gathers to a target, every interval.
func metricPusher(ctx context.Context, t target, every time.Duration, from prometheus.Gatherer, as *resource.Resource, log hclog.Logger) (*sdkmetric.MeterProvider, error) {
	var exporter sdkmetric.Exporter
	var err error
	if t.grpc {
		exporter, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(t.url))
	} else {
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(t.url))
	}
	if err != nil {
		return nil, err
	}
	reader := sdkmetric.NewPeriodicReader(&watchedExporter{exporter, health{log: log, what: "metrics"}},
		sdkmetric.WithInterval(every), sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(from))))
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(as)), nil
}

// watchedExporter keeps export errors out of OpenTelemetry's global error
// handler, which would print each one to standard error.
type watchedExporter struct {
	sdkmetric.Exporter
	health health
}

func (w *watchedExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	w.health.report(w.Exporter.Export(ctx, data))
	return nil
}

// health logs when an exporter begins to fail and when it works again.
type health struct {
	log     hclog.Logger
	what    string
	failing atomic.Bool
}

func (h *health) report(err error) {
	switch {
	case err != nil && !h.failing.Swap(true):
		h.log.Warn("telemetry export fails; the gateway goes on without it", "what", h.what, "error", err)
	case err == nil && h.failing.Swap(false):
		h.log.Info("telemetry export works again", "what", h.what)
	}
}
