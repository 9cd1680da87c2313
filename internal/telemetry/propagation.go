package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"gatewayd/internal/http1"
)

// Header fields of W3C Trace Context and Baggage, in canonical form.
const (
	headerParent  = "Traceparent"
	headerState   = "Tracestate"
	headerBaggage = "Baggage"
)

// carrier gives the propagator all fields of a name as one list: that is what
// several tracestates mean, and it makes several traceparents malformed.
type carrier struct{ *http1.Header }

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string { return strings.Join(c.Values(field(name)), ",") }

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(name, value string) { c.Header.Set(field(name), value) }

// field is the canonical form of the names that propagators use.
func field(name string) string {
	switch name {
	case "traceparent":
		return headerParent
	case "tracestate":
		return headerState
	}
	return name
}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string { return []string{headerParent, headerState, headerBaggage} }

// extract returns ctx with the trace context and the baggage of a client's
// headers. Malformed ones count as absent. Without any, ctx itself comes back.
func extract(ctx context.Context, h http1.Header) context.Context {
	if !h.Has(headerParent) && !h.Has(headerBaggage) {
		return ctx
	}
	all := carrier{new(h)}
	ctx = propagation.TraceContext{}.Extract(ctx, all)
	if text := all.Get(headerBaggage); text != "" {
		// Parse bounds the bytes and the members.
		if bag, err := baggage.Parse(text); err == nil {
			ctx = baggage.ContextWithBaggage(ctx, bag)
		}
	}
	return ctx
}

// inject replaces whatever trace context and baggage the headers hold by those
// of ctx, so that exactly one goes upstream, or none.
func inject(ctx context.Context, h *http1.Header) {
	h.Del(headerParent)
	h.Del(headerState)
	h.Del(headerBaggage)
	if trace.SpanContextFromContext(ctx).IsValid() {
		propagation.TraceContext{}.Inject(ctx, carrier{h})
	}
	if bag := baggage.FromContext(ctx); bag.Len() > 0 {
		h.Set(headerBaggage, bag.String())
	}
}

// SpanRef names a span, for links and for plugins. The zero SpanRef names none.
type SpanRef struct {
	TraceID [16]byte
	SpanID  [8]byte
	Sampled bool
}

// Valid reports whether r names a span.
func (r SpanRef) Valid() bool { return r.TraceID != [16]byte{} && r.SpanID != [8]byte{} }

func refOf(s trace.Span) SpanRef {
	if s == nil {
		return SpanRef{}
	}
	c := s.SpanContext()
	return SpanRef{TraceID: c.TraceID(), SpanID: c.SpanID(), Sampled: c.IsSampled()}
}

func (r SpanRef) context() trace.SpanContext {
	c := trace.SpanContextConfig{TraceID: r.TraceID, SpanID: r.SpanID}
	if r.Sampled {
		c.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(c)
}
