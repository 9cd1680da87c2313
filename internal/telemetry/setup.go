package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// ShutdownLimit bounds Shutdown as a whole.
const ShutdownLimit = 2 * time.Second

// flushLimit is the part of it for sending what is queued; the rest is for
// closing connections.
const flushLimit = 1500 * time.Millisecond

// Options are what Setup may be told. The zero value works.
type Options struct {
	// Service is the default for service.name; "" means gatewayd.
	Service string
	// Version is the program's version.
	Version string
	// Getenv reads the OTEL_* variables that say what is exported, where to, under
	// which name and how often; nil means os.Getenv. Headers, certificates,
	// compression and time-outs of OTLP are read by the exporters themselves from
	// the process environment.
	Getenv func(string) string
	// Logger hears of exports that fail; nil means nobody does.
	Logger hclog.Logger
}

// Telemetry makes spans and holds the metrics. Its methods are safe for
// concurrent use; while tracing is off they cost a comparison and allocate
// nothing.
type Telemetry struct {
	// Metrics is never nil.
	Metrics *Metrics

	log      hclog.Logger
	provider *sdktrace.TracerProvider // nil while tracing is off
	tracer   trace.Tracer             // nil while tracing is off
	queue    *queue
	plugins  *memo[string, *resource.Resource]
	pusher   *sdkmetric.MeterProvider // nil unless metrics are pushed
	lost     atomic.Int64

	server, internal, root, client []trace.SpanStartOption
}

// Off returns telemetry that makes no spans and pushes nothing; its metrics work.
func Off() *Telemetry {
	return &Telemetry{Metrics: NewMetrics(""), log: hclog.NewNullLogger()}
}

// Setup makes the telemetry that the OTEL_* variables ask for. Its error names
// the variable that is wrong; an unreachable collector is no error.
func Setup(ctx context.Context, o Options) (*Telemetry, error) {
	env := environment(o.Getenv)
	if o.Getenv == nil {
		env = os.Getenv
	}
	t := Off()
	t.Metrics = NewMetrics(o.Version)
	if o.Logger != nil {
		t.log = o.Logger
	}
	who, err := describe(ctx, env, o)
	if err != nil {
		return nil, fmt.Errorf("set up telemetry: %w", err)
	}
	if err := t.startTraces(ctx, env, who); err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	if err := t.startMetrics(ctx, env, who); err != nil {
		return nil, errors.Join(fmt.Errorf("set up metrics: %w", err), t.Shutdown(ctx))
	}
	return t, nil
}

// describe returns the resource that spans and metrics belong to.
func describe(ctx context.Context, env environment, o Options) (*resource.Resource, error) {
	attrs, err := env.resource()
	if err != nil {
		return nil, err
	}
	service := o.Service
	if service == "" {
		service = "gatewayd"
	}
	own := []attribute.KeyValue{attrServiceName.String(service)}
	if o.Version != "" {
		own = append(own, attrServiceVersion.String(o.Version))
	}
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(), resource.WithService(),
		resource.WithAttributes(own...), resource.WithAttributes(attrs...))
}

func (t *Telemetry) startTraces(ctx context.Context, env environment, who *resource.Resource) error {
	to, on, err := env.target(traces)
	if err != nil || !on {
		return err
	}
	sampler, err1 := env.sampler()
	capacity, err2 := env.count("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
	batch, err3 := env.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)
	delay, err4 := env.millis("OTEL_BSP_SCHEDULE_DELAY", 5*time.Second)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	exporter, err := traceExporter(ctx, to)
	if err != nil {
		return err
	}
	t.trace(exporter, sampler, who, queueLimits{capacity, batch, delay})
	t.log.Info("traces are exported", "sampler", sampler.Description())
	return nil
}

// trace begins tracing into an exporter.
func (t *Telemetry) trace(e sdktrace.SpanExporter, s sdktrace.Sampler, who *resource.Resource, limits queueLimits) {
	t.queue = &queue{exporter: e, limits: limits, lost: t.lose, health: health{log: t.log, what: "traces"}}
	t.queue.start()
	t.plugins = newMemo(func(plugin string) *resource.Resource { return pluginResource(who, plugin) })
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(t.queue), sdktrace.WithSampler(s), sdktrace.WithResource(who))
	t.tracer = t.provider.Tracer(scope, trace.WithSchemaURL(schemaURL))
	kind := func(k trace.SpanKind) []trace.SpanStartOption { return []trace.SpanStartOption{trace.WithSpanKind(k)} }
	t.server, t.internal, t.client = kind(trace.SpanKindServer), kind(trace.SpanKindInternal), kind(trace.SpanKindClient)
	t.root = append(kind(trace.SpanKindInternal), trace.WithNewRoot())
}

func (t *Telemetry) startMetrics(ctx context.Context, env environment, who *resource.Resource) error {
	to, on, err := env.target(metrics)
	if err != nil || !on {
		return err
	}
	every, err := env.millis("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
	if err != nil {
		return err
	}
	t.pusher, err = metricPusher(ctx, to, every, t.Metrics.registry, who, t.log)
	return err
}

// On reports whether spans are made.
func (t *Telemetry) On() bool { return t.tracer != nil }

// TracerProvider returns the provider of the gateway's tracer, for libraries
// that bring their own spans; a no-op one while tracing is off.
func (t *Telemetry) TracerProvider() trace.TracerProvider {
	if t.provider == nil {
		return noop.NewTracerProvider()
	}
	return t.provider
}

// lose counts spans that do not reach the collector.
func (t *Telemetry) lose(reason string, n int) {
	t.lost.Add(int64(n))
	t.Metrics.spansDropped(reason, n)
}

// Shutdown sends what is queued and closes the exporters, within ctx and
// ShutdownLimit, whatever the exporters do. Spans that could not be sent are
// counted and logged.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ShutdownLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- t.shutdown(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if n := t.lost.Load(); n > 0 {
		t.log.Warn("spans were lost", "count", n)
	}
	if err != nil {
		return fmt.Errorf("shut down telemetry: %w", err)
	}
	return nil
}

func (t *Telemetry) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	pushed := make(chan error, 1)
	go func() {
		if t.pusher == nil {
			pushed <- nil
			return
		}
		pushed <- t.pusher.Shutdown(ctx)
	}()
	var err error
	if t.queue != nil {
		err = t.queue.Shutdown(ctx)
	}
	return errors.Join(err, <-pushed)
}
