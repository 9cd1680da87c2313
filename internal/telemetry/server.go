package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"gatewayd/internal/http1"
	"gatewayd/pkg/router"
)

// ServerSpan is the span of one client request. The zero ServerSpan does nothing.
type ServerSpan struct{ span trace.Span }

// ServerResult is what is known at the end of a request.
type ServerResult struct {
	Status    int            // HTTP status sent to the client; 0 = none was sent
	Outcome   router.Outcome // how the request ended
	ErrorType string         // one word of a small vocabulary; "" = it ended well
	RequestID string         // the gateway's ID for it
	Model     string         // as the client asked
	Worker    string         // which served, or tried last; "" = none
	Strategy  string         // which chose it
	Attempts  int            // at workers
}

// ServerRequest is what is known of a client's request when it comes.
type ServerRequest struct {
	Method string
	Header http1.Header
	Major  int  // of the version of HTTP: 1 or 2
	TLS    bool // it came over TLS
}

// StartServer begins the SERVER span of a request, as a child of the trace
// context in its headers if that is well formed. The route is a path that the
// gateway serves, or "" for any other one: paths that clients make up reach no
// span. The context also carries the client's trace context and baggage to
// StartAttempt while tracing is off.
func (t *Telemetry) StartServer(ctx context.Context, r ServerRequest, route string) (context.Context, ServerSpan) {
	ctx = extract(ctx, r.Header)
	if t.tracer == nil {
		return ctx, ServerSpan{}
	}
	method := knownMethod(r.Method)
	ctx, span := t.tracer.Start(ctx, method, t.server...)
	if !span.IsRecording() {
		return ctx, ServerSpan{span}
	}
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	attrs := []attribute.KeyValue{attrMethod.String(method), attrScheme.String(scheme)}
	if r.Major == 2 {
		attrs = append(attrs, attrProtocol.String("2"))
	} else {
		attrs = append(attrs, attrProtocol.String("1.1"))
	}
	if method == otherMethod {
		method = "HTTP"
	}
	if route != "" {
		method += " " + route
		attrs = append(attrs, attrRoute.String(route), attrPath.String(route))
	}
	span.SetName(method)
	span.SetAttributes(attrs...)
	return ctx, ServerSpan{span}
}

// child begins a span within the one of ctx. One that is not recorded stands for all
// within it too: no sampler would keep them.
func (t *Telemetry) child(ctx context.Context, name string, kind []trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if who := parent.SpanContext(); who.IsValid() && !who.IsRemote() && !parent.IsRecording() {
		return ctx, parent
	}
	return t.tracer.Start(ctx, name, kind...)
}

// Ref names the span.
func (s ServerSpan) Ref() SpanRef { return refOf(s.span) }

// End ends the span. Call it exactly once.
func (s ServerSpan) End(r ServerResult) {
	if s.span == nil {
		return
	}
	if s.span.IsRecording() {
		attrs := make([]attribute.KeyValue, 0, 8)
		attrs = append(attrs, attrOutcome.String(outcomeName(r.Outcome)), attrAttempt.Int(r.Attempts))
		if r.Status != 0 {
			attrs = append(attrs, attrStatus.Int(r.Status))
		}
		attrs = appendText(attrs, attrErrorType, r.ErrorType)
		attrs = appendText(attrs, attrRequestID, r.RequestID)
		attrs = appendText(attrs, attrModel, r.Model)
		attrs = appendText(attrs, attrWorker, r.Worker)
		attrs = appendText(attrs, attrStrategy, r.Strategy)
		s.span.SetAttributes(attrs...)
		if r.Status >= http.StatusInternalServerError || r.Outcome == router.Failed {
			s.span.SetStatus(codes.Error, clean(r.ErrorType))
		}
	}
	s.span.End()
}

const otherMethod = "_OTHER"

// knownMethod maps methods that clients make up to one word.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return otherMethod
}

// appendText adds a cleaned text attribute unless the text is empty.
func appendText(attrs []attribute.KeyValue, key attribute.Key, text string) []attribute.KeyValue {
	if text == "" {
		return attrs
	}
	return append(attrs, key.String(clean(text)))
}
