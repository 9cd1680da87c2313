package otlptest

import (
	"encoding/hex"
	"strings"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Span is a received span.
type Span struct {
	Service    string // service.name of its resource
	Name       string
	Kind       string // SERVER, CLIENT, INTERNAL ...
	TraceID    string // lower-case hex, as are the following
	SpanID     string
	ParentID   string         // "" = a root
	Attributes map[string]any // string, int64, float64, bool or []any of them
	Links      []Link
	Error      bool   // status code ERROR
	Message    string // of the status
	StartNanos uint64 // Unix time
	EndNanos   uint64
}

// Link is a link to another span.
type Link struct{ TraceID, SpanID string }

// Named returns the spans of that name.
func Named(spans []Span, name string) []Span {
	var found []Span
	for _, s := range spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func (r *Receiver) addSpans(request *tracepb.ExportTraceServiceRequest) {
	r.arrived(func() {
		for _, rs := range request.GetResourceSpans() {
			service, _ := attributes(rs.GetResource().GetAttributes())["service.name"].(string)
			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					r.spans = append(r.spans, span(service, s))
				}
			}
		}
	})
}

func (r *Receiver) addMetrics(request *metricspb.ExportMetricsServiceRequest) {
	r.arrived(func() {
		for _, rm := range request.GetResourceMetrics() {
			for _, sm := range rm.GetScopeMetrics() {
				for _, m := range sm.GetMetrics() {
					r.metrics[m.GetName()] = true
				}
			}
		}
	})
}

func span(service string, s *spanpb.Span) Span {
	out := Span{
		Service:    service,
		Name:       s.GetName(),
		Kind:       strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"),
		TraceID:    hex.EncodeToString(s.GetTraceId()),
		SpanID:     hex.EncodeToString(s.GetSpanId()),
		ParentID:   hex.EncodeToString(s.GetParentSpanId()),
		Attributes: attributes(s.GetAttributes()),
		Error:      s.GetStatus().GetCode() == spanpb.Status_STATUS_CODE_ERROR,
		Message:    s.GetStatus().GetMessage(),
		StartNanos: s.GetStartTimeUnixNano(),
		EndNanos:   s.GetEndTimeUnixNano(),
	}
	for _, l := range s.GetLinks() {
		out.Links = append(out.Links, Link{hex.EncodeToString(l.GetTraceId()), hex.EncodeToString(l.GetSpanId())})
	}
	return out
}

func attributes(list []*commonpb.KeyValue) map[string]any {
	out := make(map[string]any, len(list))
	for _, kv := range list {
		out[kv.GetKey()] = value(kv.GetValue())
	}
	return out
}

func value(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_ArrayValue:
		list := make([]any, 0, len(v.ArrayValue.GetValues()))
		for _, each := range v.ArrayValue.GetValues() {
			list = append(list, value(each))
		}
		return list
	}
	return nil
}
