package telemetry

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"gatewayd/internal/http1"
	"gatewayd/pkg/router"
)

// AttemptSpan is the span of one attempt at a worker. The zero AttemptSpan does
// nothing.
type AttemptSpan struct{ span trace.Span }

// Attempt describes one attempt at a worker, before it is made.
type Attempt struct {
	Operation string // OperationChat, OperationCompletion or OperationEmbeddings
	Provider  string // the worker's engine; "" = unknown
	Model     string // as it is sent to the worker
	Stream    bool
	MaxTokens int // 0 = the client gave none
	Worker    string
	URL       *url.URL // of the worker; nil = unknown
	Number    int      // 1 for the first
}

// AttemptResult is what is known at the end of an attempt. Zero values mean
// unknown and make no attribute.
type AttemptResult struct {
	Status        int // HTTP status of the worker
	Outcome       AttemptOutcome
	ErrorType     string // one word of a small vocabulary; "" = it ended well
	ResponseID    string
	ResponseModel string
	FinishReasons []string
	FirstChunk    time.Duration // from sending the request to the first chunk of the answer
	HasUsage      bool          // whether the worker reported Usage
	Usage         router.Usage
}

// StartAttempt begins the CLIENT span of an attempt, as a child of the span in
// ctx, and makes it the one trace context in the header fields that go to the
// worker. While tracing is off, the client's well-formed trace context is passed
// on as it came, if there was one.
func (t *Telemetry) StartAttempt(ctx context.Context, a Attempt, upstream *http1.Header) (context.Context, AttemptSpan) {
	if t.tracer == nil {
		inject(ctx, upstream)
		return ctx, AttemptSpan{}
	}
	ctx, span := t.child(ctx, a.Operation, t.client)
	inject(ctx, upstream)
	if !span.IsRecording() {
		return ctx, AttemptSpan{span}
	}
	span.SetName(a.Operation + " " + clean(a.Model))
	attrs := make([]attribute.KeyValue, 0, 9)
	attrs = append(attrs, attrStream.Bool(a.Stream), attrAttempt.Int(a.Number))
	attrs = appendText(attrs, attrOperation, a.Operation)
	attrs = appendText(attrs, attrProvider, a.Provider)
	attrs = appendText(attrs, attrModel, a.Model)
	attrs = appendText(attrs, attrWorker, a.Worker)
	if a.URL != nil {
		attrs = appendText(attrs, attrServerAddress, a.URL.Hostname())
		if port, err := strconv.Atoi(a.URL.Port()); err == nil {
			attrs = append(attrs, attrServerPort.Int(port))
		}
	}
	if a.MaxTokens > 0 {
		attrs = append(attrs, attrMaxTokens.Int(a.MaxTokens))
	}
	span.SetAttributes(attrs...)
	return ctx, AttemptSpan{span}
}

// Ref names the span.
func (s AttemptSpan) Ref() SpanRef { return refOf(s.span) }

// Recording reports whether the span is kept, so that a caller may skip reading
// what only the span wants (the response's ID and finish reasons).
func (s AttemptSpan) Recording() bool { return s.span != nil && s.span.IsRecording() }

// maxFinishReasons bounds the list of finish reasons: one per choice.
const maxFinishReasons = 16

// End ends the span. Call it exactly once.
func (s AttemptSpan) End(r AttemptResult) {
	if s.span == nil {
		return
	}
	if s.span.IsRecording() {
		s.span.SetAttributes(r.attributes()...)
		if r.ErrorType != "" {
			s.span.SetStatus(codes.Error, clean(r.ErrorType))
		}
	}
	s.span.End()
}

func (r *AttemptResult) attributes() []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 10)
	attrs = append(attrs, attrOutcome.String(r.Outcome.String()))
	if r.Status != 0 {
		attrs = append(attrs, attrStatus.Int(r.Status))
	}
	attrs = appendText(attrs, attrErrorType, r.ErrorType)
	attrs = appendText(attrs, attrResponseID, r.ResponseID)
	attrs = appendText(attrs, attrResponseModel, r.ResponseModel)
	if n := min(len(r.FinishReasons), maxFinishReasons); n > 0 {
		reasons := make([]string, n)
		for i := range reasons {
			reasons[i] = clean(r.FinishReasons[i])
		}
		attrs = append(attrs, attrFinishReasons.StringSlice(reasons))
	}
	if r.FirstChunk > 0 {
		attrs = append(attrs, attrFirstChunk.Float64(r.FirstChunk.Seconds()))
	}
	if r.HasUsage {
		attrs = append(attrs, attrInputTokens.Int(r.Usage.PromptTokens), attrOutputTokens.Int(r.Usage.OutputTokens))
		if r.Usage.CachedTokens >= 0 {
			attrs = append(attrs, attrCachedTokens.Int(r.Usage.CachedTokens))
		}
	}
	return attrs
}
