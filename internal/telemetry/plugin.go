package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// PluginSpan is a finished span of a plugin, as plain values.
type PluginSpan struct {
	TraceID    [16]byte
	SpanID     [8]byte
	ParentID   [8]byte // of the gateway's span; zero = none
	Name       string
	Start, End time.Time
	Error      string // "" = it ended well
	Attributes []PluginAttribute
}

// PluginAttribute is an attribute of a plugin's span: a text or, if that is
// empty, a number.
type PluginAttribute struct {
	Key    string
	Text   string
	Number int64
}

// maxPluginAttributes bounds the attributes of one span of a plugin.
const maxPluginAttributes = 32

// ExportPluginSpans hands finished spans of a plugin to the exporter, under
// service.name = the plugin's name. It never waits; spans that are malformed or
// do not fit the queue are counted as dropped. While tracing is off it does nothing.
func (t *Telemetry) ExportPluginSpans(plugin string, spans []PluginSpan) {
	if t.tracer == nil || len(spans) == 0 {
		return
	}
	who := t.plugins.of(clean(plugin))
	for i := range spans {
		if s := &spans[i]; s.valid() {
			t.queue.OnEnd(s.snapshot(who))
		} else {
			t.lose(lostInvalid, 1)
		}
	}
}

func (s *PluginSpan) valid() bool {
	return s.TraceID != [16]byte{} && s.SpanID != [8]byte{} && s.Name != "" && !s.Start.IsZero() && !s.End.Before(s.Start)
}

func (s *PluginSpan) snapshot(who *resource.Resource) sdktrace.ReadOnlySpan {
	stub := tracetest.SpanStub{
		Name:                 clean(s.Name),
		SpanContext:          SpanRef{TraceID: s.TraceID, SpanID: s.SpanID, Sampled: true}.context(),
		SpanKind:             trace.SpanKindInternal,
		StartTime:            s.Start,
		EndTime:              s.End,
		Resource:             who,
		InstrumentationScope: instrumentation.Scope{Name: pluginScope},
	}
	if s.ParentID != [8]byte{} {
		stub.Parent = SpanRef{TraceID: s.TraceID, SpanID: s.ParentID, Sampled: true}.context().WithRemote(true)
	}
	if s.Error != "" {
		stub.Status = sdktrace.Status{Code: codes.Error, Description: clean(s.Error)}
	}
	n := min(len(s.Attributes), maxPluginAttributes)
	stub.DroppedAttributes = len(s.Attributes) - n
	for _, a := range s.Attributes[:n] {
		key := attribute.Key(clean(a.Key))
		if a.Text != "" {
			stub.Attributes = append(stub.Attributes, key.String(clean(a.Text)))
		} else {
			stub.Attributes = append(stub.Attributes, key.Int64(a.Number))
		}
	}
	return stub.Snapshot()
}

// pluginResource is the gateway's resource under a plugin's name.
func pluginResource(gateway *resource.Resource, plugin string) *resource.Resource {
	attrs := []attribute.KeyValue{attrServiceName.String(plugin)}
	for _, a := range gateway.Attributes() {
		if a.Key != attrServiceName && a.Key != attrServiceVersion {
			attrs = append(attrs, a)
		}
	}
	return resource.NewSchemaless(attrs...)
}
